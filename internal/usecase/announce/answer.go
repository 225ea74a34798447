package announce

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/platform/outbound"
)

// verdict is what an answer means for what was posted.
type verdict int

const (
	taken   verdict = iota
	failed          // to be tried again
	waits           // to be tried again after a time that the host names
	wrong           // not to be tried again
	refused         // nothing is to be posted there any more
)

// said is an answer, and what it means.
type said struct {
	verdict
	status int    // 0: there was none
	text   string // in words; empty when it was taken
	wait   time.Duration
}

// judge says what an answer means.
func judge(a outbound.Answer, err error) said {
	if err != nil {
		return said{verdict: failed, text: "It could not be sent: " + err.Error() + "."}
	}
	s := said{status: a.Status, text: fmt.Sprintf("The webhook answered %d %s.", a.Status, http.StatusText(a.Status))}
	switch {
	case a.Status >= 200 && a.Status < 300:
		s.verdict, s.text = taken, ""
	case a.Status == http.StatusTooManyRequests:
		s.verdict, s.wait = waits, retryAfter(a)
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		s.verdict = refused
		s.text += " The webhook does not exist, or may not be used any more: enter its new address."
	case a.Status >= 300 && a.Status < 400:
		s.verdict = wrong
		s.text += " Redirects are not followed: enter the address that it leads to."
	case a.Status < 500:
		s.verdict = wrong
	default:
		s.verdict = failed
	}
	return s
}

// leastWait is how long a host that says 429 is left alone at least.
const leastWait = 100 * time.Millisecond

// retryAfter is how long a host wants to be left alone: by Discord's retry_after, in seconds with a fraction or, as older services that
// imitate it say, in milliseconds; else by the header, in seconds or as a date.
func retryAfter(a outbound.Answer) time.Duration {
	header := a.Header.Get("Retry-After")
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil {
		if date, wrong := http.ParseTime(header); wrong == nil {
			seconds = time.Until(date).Seconds()
		}
	}
	var body struct {
		RetryAfter float64 `json:"retry_after"`
	}
	if json.Unmarshal(a.Body, &body) == nil && body.RetryAfter > 0 {
		inMillis := body.RetryAfter >= 1000 || seconds > 0 && body.RetryAfter >= 100*seconds
		if seconds = body.RetryAfter; inMillis {
			seconds /= 1000
		}
	}
	wait := time.Duration(min(max(seconds, 0), oldest.Seconds()) * float64(time.Second))
	return max(wait, leastWait)
}
