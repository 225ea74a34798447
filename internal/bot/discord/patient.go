package discord

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"
)

// patient is an http.RoundTripper that waits as long as Discord says after 429, and then sends the request again. The library's own rate limiter
// keeps most of them from happening, but takes only whole seconds, and no 429 without a bucket.
type patient struct{ next http.RoundTripper }

// answerTime is how long Discord may take to begin an answer.
const answerTime = 20 * time.Second

func newPatient() patient {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
	return patient{transport}
}

// RoundTrip implements http.RoundTripper.
func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		answer, err := p.next.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusTooManyRequests || r.Body != nil && r.GetBody == nil {
			return answer, err
		}
		text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
		_ = answer.Body.Close()
		if err != nil {
			return nil, err
		}
		select {
		case <-r.Context().Done():
			answer.Body = io.NopCloser(bytes.NewReader(text))
			return nil, r.Context().Err()
		case <-time.After(pauseOf(answer.Header.Get("Retry-After"), text)):
		}
		again := r.Clone(r.Context())
		if r.GetBody != nil {
			if again.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		r = again
	}
}

// pauseOf is how long to wait: by the body, which has fractions, else by the header, else a second.
func pauseOf(header string, body []byte) time.Duration {
	var said struct {
		RetryAfter float64 `json:"retry_after"`
	}
	_ = json.Unmarshal(body, &said) // a proxy's page has none
	seconds := said.RetryAfter
	if seconds <= 0 {
		seconds, _ = strconv.ParseFloat(header, 64)
	}
	if seconds <= 0 {
		seconds = 1
	}
	return time.Duration(seconds * float64(time.Second))
}
