// Package edge is what the API and the pages share: for requests the sender, time, limits, body and
// errors; for answers entity tags, gzip and exports. The look of an error is up to them.
package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// MatchETag returns the first entity tag in the values of If-None-Match that equals
// etag by the weak comparison of RFC 9110, section 13.1.2. For "*" it returns etag.
func MatchETag(ifNoneMatch []string, etag string) (same string, ok bool) {
	for _, line := range ifNoneMatch {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			switch {
			case candidate == "*":
				return etag, true
			case strings.TrimPrefix(candidate, "W/") == etag:
				return candidate, true
			}
		}
	}
	return "", false
}

// BodyETag returns the entity tag of a body: a digest.
func BodyETag(body []byte) string {
	digest := sha256.Sum256(body)
	return `"` + hex.EncodeToString(digest[:12]) + `"`
}

// ETag returns the entity tag of a state, which kind and numbers identify.
func ETag(kind string, numbers ...int64) string {
	tag := append([]byte{'"'}, kind...)
	for _, n := range numbers {
		tag = strconv.AppendInt(append(tag, '-'), n, 16)
	}
	return string(append(tag, '"'))
}

// WeakETag returns a weak form of the tag, for a state that may be sent in other bytes, such as gzipped:
// a strong tag stands for the same bytes (RFC 9110, section 8.8.3.3). An empty tag stays empty.
func WeakETag(tag string) string {
	if strings.HasPrefix(tag, `"`) {
		return "W/" + tag
	}
	return tag
}
