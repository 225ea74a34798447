package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	jitter "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	base = cmp.Or(os.Getenv("LEVELBOARD_URL"), "http://127.0.0.1:8080")
	one  sync.Mutex // call at a time, so that one 429 stops them all
)

type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// call sends a request and reads the answer, which must be 2xx: bytes as they are, else JSON. A change has an Idempotency-Key, under which it
// is made once however often it is sent.
func call(method, path string, body, answer any) (http.Header, error) {
	one.Lock()
	defer one.Unlock()
	id, wait := rand.Text(), 500*time.Millisecond
	for n := 1; ; n++ {
		status, header, text, err := send(method, path, id, body)
		seconds, _ := strconv.Atoi(header.Get("Retry-After"))
		asked := time.Duration(max(seconds, 1)) * time.Second
		switch {
		case status/100 == 2:
			limit, _ := strconv.Atoi(header.Get("X-RateLimit-Limit"))
			if left, err := strconv.Atoi(header.Get("X-RateLimit-Remaining")); err == nil && left < limit/10 {
				time.Sleep(time.Minute / time.Duration(limit)) // the budget refills by one
			}
			if raw, ok := answer.(*[]byte); ok {
				*raw = text
			} else if answer != nil {
				err = json.Unmarshal(text, answer)
			}
			return header, err
		case err == nil && status != 429 && status != 503, n == 9:
			return header, &statusError{status, fmt.Sprintf("%s %s: %d %s, attempt %d", method, path, status, cmp.Or(string(text), fmt.Sprint(err)), n)}
		case status == 429:
			wait = asked
		default:
			wait = min(time.Minute, max(asked, 2*wait))
		}
		time.Sleep(wait + jitter.N(500*time.Millisecond))
	}
}

func send(method, path, id string, body any) (status int, header http.Header, text []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var content bytes.Buffer
	if body != nil {
		_ = json.NewEncoder(&content).Encode(body)
	}
	r, err := request(ctx, method, path, &content)
	if err != nil {
		return 0, nil, nil, err
	}
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", id)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, nil, err
	}
	return answer.StatusCode, answer.Header, text, nil
}

func request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, base+path, body)
	if err == nil {
		r.Header.Set("X-Api-Key", os.Getenv("LEVELBOARD_KEY"))
	}
	return r, err
}

// stream calls apply for each event of a guild, one after the other, from behind the event id on until the stream ends, and returns how long to
// wait before the next one.
func stream(guildID, id string, apply func(id, event string, data []byte)) (time.Duration, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	silence := time.AfterFunc(30*time.Second, cancel)
	r, err := request(ctx, http.MethodGet, "/v2/guilds/"+guildID+"/events", http.NoBody)
	if err != nil {
		return time.Minute, err
	}
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 2 * time.Second, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return time.Duration(cmp.Or(seconds, 60)) * time.Second, fmt.Errorf("events: %s", answer.Status)
	}
	field := map[string]string{}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		silence.Reset(30 * time.Second)
		if name, value, found := strings.Cut(lines.Text(), ": "); found {
			field[name] = value
		} else if lines.Text() == "" && field["id"] != "" {
			apply(field["id"], field["event"], []byte(field["data"]))
			clear(field)
		}
	}
	return 2 * time.Second, lines.Err()
}
