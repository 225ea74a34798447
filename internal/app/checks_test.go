package app_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"levelboard/internal/testing/apitest"
)

// wantJSON fails unless the answer is want as JSON, in any order of properties.
func wantJSON(t *testing.T, got apitest.Response, want string) {
	t.Helper()
	if g, w := decoded(t, got.Body), decoded(t, []byte(want)); !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", indented(g), indented(w))
	}
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("decoding JSON: %v in %s", err, text)
	}
	return value
}

func indented(value any) string {
	text, _ := json.MarshalIndent(value, "", "  ")
	return string(text)
}

func jsonText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var limitHeaders = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// wantFailure fails unless the answer has this status and the form that all failures share.
func wantFailure(t *testing.T, got apitest.Response, status int) {
	t.Helper()
	if got.Status != status {
		t.Errorf("got status %d, want %d; body %s", got.Status, status, got.Body)
		return
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Errorf("the body of a %d is not JSON: %q", status, got.Body)
		return
	}
	if message, _ := body["message"].(string); message == "" || len(body) != 1 {
		t.Errorf("the body of a %d is %s, want only a message", status, got.Body)
	}
	if media := got.Header.Get("Content-Type"); media != "application/json" {
		t.Errorf("a %d has the Content-Type %q, want application/json", status, media)
	}
}

// wantLimits fails unless all three rate limit headers are there, each once.
func wantLimits(t *testing.T, got apitest.Response) {
	t.Helper()
	for _, name := range limitHeaders {
		if values := got.Header.Values(name); len(values) != 1 {
			t.Errorf("a %d has %s %q, want it once", got.Status, name, values)
		}
	}
}

// wantNoBody fails if an answer to HEAD, or one without content, has a body.
func wantNoBody(t *testing.T, got apitest.Response) {
	t.Helper()
	if len(got.Body) != 0 {
		t.Errorf("a %d has the body %s, want none", got.Status, got.Body)
	}
}

func wantHeader(t *testing.T, got apitest.Response, name, want string) {
	t.Helper()
	if value := strings.Join(got.Header.Values(name), ", "); value != want {
		t.Errorf("%s is %q, want %q", name, value, want)
	}
}

// together calls do for every i below n in this many workers, and fails the test with the first error.
func together(t *testing.T, n, workers int, do func(i int) error) {
	t.Helper()
	next := make(chan int)
	errs := make(chan error, workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var failure error
	for i := range n {
		select {
		case next <- i:
			continue
		case failure = <-errs:
		}
		break
	}
	close(next)
	running.Wait()
	close(errs)
	for err := range errs {
		if failure == nil {
			failure = err
		}
	}
	if failure != nil {
		t.Fatal(failure)
	}
}
