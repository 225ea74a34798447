package httpapi

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"
)

// packable is from how many bytes on a page is packed: what goes into one packet is not sent sooner when it is smaller.
const packable = 1400

// packer packs one page at a time.
type packer struct {
	mu   sync.Mutex
	to   bytes.Buffer
	with *gzip.Writer // of 800 KB; nil before the first page
}

// pack returns the page gzipped, and keeps it so; nil when another page is being packed, which takes some requests' time: then
// this one is sent as it is.
func (a *api) pack(name pageName, page encodedPage) []byte {
	if !a.packer.mu.TryLock() {
		return nil
	}
	defer a.packer.mu.Unlock()
	packed := a.packer.pack(page.body)
	a.pages.pack(name, page, packed)
	return packed
}

func (p *packer) pack(body []byte) []byte {
	p.to.Reset()
	if p.with == nil {
		p.with = gzip.NewWriter(&p.to)
	} else {
		p.with.Reset(&p.to)
	}
	_, _ = p.with.Write(body) // into memory
	_ = p.with.Close()
	return bytes.Clone(p.to.Bytes())
}

// acceptsGzip reports whether the client takes gzip (RFC 9110, section 12.5.3).
func acceptsGzip(acceptEncoding []string) bool {
	accepts := false
	for _, line := range acceptEncoding {
		for coding := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(coding, ";")
			name = strings.TrimSpace(name)
			if strings.EqualFold(name, "gzip") || strings.EqualFold(name, "x-gzip") {
				return wanted(parameters)
			}
			accepts = accepts || name == "*" && wanted(parameters)
		}
	}
	return accepts
}

// wanted reports whether the weight is above 0; one that cannot be read is.
func wanted(parameters string) bool {
	name, weight, _ := strings.Cut(parameters, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return true
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
	return err != nil || q > 0
}
