package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	jitter "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

type object = map[string]any

// answer is what Levelboard says, with the fields of openapi.json that the bot reads.
type answer struct {
	ok   bool
	text []byte

	ID, Kind, Name, UserID            string
	Closed                            bool
	Rank, Level, XP, Gained           int
	AddRoles, RemoveRoles             []string
	Levels, Results, Periods, Winners []answer
}

var (
	base   = cmp.Or(os.Getenv("LEVELBOARD_URL"), "http://127.0.0.1:8080")
	client = newClient()
	queue  sync.Mutex // one call at a time, so that a single 429 stops them all
)

// newClient returns a client that repeats a request after 429, 503 or no answer, and waits longer each time.
func newClient() *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.Logger, c.RetryMax, c.RetryWaitMax = nil, 8, time.Minute
	c.HTTPClient.Transport.(*http.Transport).ResponseHeaderTimeout = 20 * time.Second
	c.Backoff = func(least, most time.Duration, n int, r *http.Response) time.Duration {
		doubled := retryablehttp.DefaultBackoff(least, most, n, nil)
		return max(doubled, retryablehttp.DefaultBackoff(least, most, n, r)) + jitter.N(time.Second/2)
	}
	return c
}

// request returns a request that may be repeated: under its Idempotency-Key a change is made once.
func request(method, path string, body any) *retryablehttp.Request {
	var content []byte
	if body != nil {
		content, _ = json.Marshal(body)
	}
	r, err := retryablehttp.NewRequest(method, base+path, content)
	if err != nil {
		log.Fatal(err) // LEVELBOARD_URL
	}
	r.Header.Set("X-Api-Key", os.Getenv("LEVELBOARD_KEY"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", rand.Text())
	return r
}

// call returns Levelboard's answer. If there is none, the log says why, and ok is false.
func call(method, path string, body any) (a answer) {
	queue.Lock()
	defer queue.Unlock()
	r := request(method, path, body)
	r.SetResponseHandler(func(got *http.Response) (err error) {
		a.text, err = io.ReadAll(got.Body)
		return err
	})
	got, err := client.Do(r)
	if err != nil {
		log.Print(err)
		return answer{}
	}
	defer got.Body.Close()
	limit, _ := strconv.Atoi(got.Header.Get("X-RateLimit-Limit"))
	if left, err := strconv.Atoi(got.Header.Get("X-RateLimit-Remaining")); err == nil && left < limit/10 {
		time.Sleep(time.Minute / time.Duration(limit)) // the budget refills by one
	}
	if a.ok = got.StatusCode/100 == 2; !a.ok {
		log.Printf("%s %s: %s %s", method, path, got.Status, a.text)
	} else if got.Header.Get("Idempotent-Replayed") == "" { // such an answer may be old: the events have the roles
		_ = json.Unmarshal(a.text, &a) // a card is no JSON
	}
	return a
}

// stream calls apply for each event of a guild after the one that is named, until it fails, or the stream ends or is
// silent.
func stream(guildID, after string, apply func(id, kind string, e answer) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := request("GET", "/v2/guilds/"+guildID+"/events", nil).WithContext(ctx)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	got, err := client.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	silence := time.AfterFunc(30*time.Second, cancel)
	field, lines := map[string]string{}, bufio.NewScanner(got.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		silence.Reset(30 * time.Second)
		if name, value, found := strings.Cut(lines.Text(), ": "); found {
			field[name] = value
		} else if field["id"] != "" {
			var e answer
			_ = json.Unmarshal([]byte(field["data"]), &e)
			if err := apply(field["id"], field["event"], e); err != nil {
				return err
			}
			clear(field)
		}
	}
	return cmp.Or(lines.Err(), fmt.Errorf("the events of %s ended: %s", guildID, got.Status))
}
