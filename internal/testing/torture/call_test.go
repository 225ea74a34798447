package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// callTime is longer than the service works on any request, so that only a dead replica does not answer.
const callTime = 15 * time.Second

// verdict is what an answer says about the requested change.
type verdict int

const (
	unknown  verdict = iota // no answer, or 5xx: it happened, may yet happen, or never will
	unsent                  // no replica took the request
	done                    // 2xx
	absent                  // 404: the member has no entry
	left                    // 404: the member is absent
	conflict                // 409: the member has an entry
	reused                  // 409: another request was made under the Idempotency-Key
	wrong                   // an answer that is not allowed here
)

// answer is a replica's answer, or the lack of one.
type answer struct {
	verdict      verdict
	status       int
	began, ended time.Time
	replica      string
	process      string // its address, which no other process of the run has
	says         outcome
	body         []byte
	text         string // for the history
}

// call sends one request to one replica and judges the answer by its status.
func (h *harness) call(r *replica, method, path, key string, body any) answer {
	a := answer{began: time.Now(), replica: r.name, verdict: unsent, text: "down"}
	defer func() { a.ended = time.Now() }()
	base := r.url.Load()
	if base == nil {
		a.ended = time.Now()
		return a
	}
	a.process = *base
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	req, err := h.request(ctx, method, *base+path, key, body)
	if err != nil {
		a.verdict, a.text = wrong, err.Error()
		return a
	}
	a.verdict = unknown
	res, err := h.http.Do(req)
	if err == nil {
		a.status = res.StatusCode
		if by := res.Header.Get(servedBy); by != "" {
			a.replica, a.process = by, "http://"+res.Header.Get(servedByHost)
		}
		a.body, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	a.ended = time.Now()
	if err != nil {
		a.text = err.Error()
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			a.verdict = unsent
		}
		return a
	}
	a.judge()
	return a
}

func (h *harness) request(ctx context.Context, method, url, key string, body any) (*http.Request, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(url, "/admin/") {
		req.Header.Set("Authorization", "Bearer "+adminToken)
	} else if h.apiKey != "" {
		req.Header.Set("X-Api-Key", h.apiKey)
	}
	if key != "" {
		// With the usual spelling net/http would repeat the call by itself, and a made call might look unsent.
		req.Header["idempotency-key"] = []string{key}
	}
	return req, nil
}

func (a *answer) judge() {
	a.text = fmt.Sprintf("%d %s", a.status, a.body)
	switch {
	case a.status < 300:
		a.verdict = done
		var summary struct {
			Level struct {
				XP           int64 `json:"xp"`
				MessageCount int64 `json:"messageCount"`
			} `json:"level"`
			Changed *int64   `json:"changed"`
			Missing []string `json:"missing"`
		}
		if len(a.body) > 0 && json.Unmarshal(a.body, &summary) == nil {
			a.says = outcome{xp: summary.Level.XP, messages: summary.Level.MessageCount}
			a.text = fmt.Sprintf("%d xp %d messages %d", a.status, a.says.xp, a.says.messages)
			if n := summary.Changed; n != nil {
				a.says, a.text = outcome{became: strconv.FormatInt(*n, 10)}, fmt.Sprintf("%d changed %d, missing %v", a.status, *n, summary.Missing)
			}
			if len(summary.Missing) > 0 {
				a.verdict = absent
			}
		}
	case a.status == http.StatusNotFound && bytes.Contains(a.body, []byte("no level entry")):
		a.verdict, a.text = absent, "404 no entry"
	case a.status == http.StatusNotFound && bytes.Contains(a.body, []byte("has left the guild")):
		a.verdict, a.text = left, "404 left"
	case a.status == http.StatusConflict && bytes.Contains(a.body, []byte("entry in the guild already")):
		a.verdict, a.text = conflict, "409 exists"
	case a.status == http.StatusConflict && bytes.Contains(a.body, []byte("given to another request")):
		a.verdict, a.text = reused, "409 key reused"
	case a.status == http.StatusInternalServerError || a.status == http.StatusBadGateway || a.status == http.StatusServiceUnavailable:
		a.verdict = unknown
	default:
		a.verdict = wrong
	}
}

// fits reports whether a change of a member in this state may be refused so.
func (v verdict) fits(s state) bool {
	switch v {
	case absent:
		return !s.exists
	case left:
		return s.exists && s.away
	case conflict:
		return s.exists
	}
	return true
}

func memberPath(guild, user string) string { return "/v2/levels/" + guild + "/users/" + user }
