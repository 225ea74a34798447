package plainhttp_test

import (
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

const ask = "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func TestAConnectionWithoutARequestIsClosed(t *testing.T) {
	for name, c := range map[string]struct{ head, whole, want time.Duration }{
		"the time for a head":                       {5 * time.Second, 15 * time.Second, 5 * time.Second},
		"without one, the time for a request":       {0, 15 * time.Second, 15 * time.Second},
		"less than the time a deadline may be soon": {500 * time.Millisecond, 0, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rest := newRest(says("hello"))
				rest.ReadHeaderTimeout, rest.ReadTimeout = c.head, c.whole
				_, m, _ := start(t, rest, everything)
				began := time.Now()
				newClient(m.dial(t)).ended(t)
				if took := time.Since(began); took != c.want {
					t.Errorf("closed after %v, want %v", took, c.want)
				}
			})
		})
	}
}

// However often the deadline was not set anew, an idle connection is closed no more than a second too soon, and never too late.
func TestAnIdleConnectionIsClosed(t *testing.T) {
	for name, c := range map[string]struct{ idle, whole, want time.Duration }{
		"the time for idle ones":              {2 * time.Minute, 15 * time.Second, 2 * time.Minute},
		"without one, the time for a request": {0, 15 * time.Second, 15 * time.Second},
		"less than that for a head":           {4500 * time.Millisecond, 0, 4500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rest := newRest(says("hello"))
				rest.IdleTimeout, rest.ReadTimeout = c.idle, c.whole
				_, m, _ := start(t, rest, everything)
				for requests := 1; requests < 20; requests++ {
					client := newClient(m.dial(t))
					for range requests {
						client.ask(t, ask)
						time.Sleep(170 * time.Millisecond)
					}
					client.ask(t, ask)
					began := time.Now()
					client.ended(t)
					if took := time.Since(began); took > c.want || took <= c.want-time.Second {
						t.Errorf("closed %v after the last of %d requests, want %v", took, requests, c.want)
					}
				}
			})
		})
	}
}

// Three bytes of a request are not one: a connection with them is idle, as it is for net/http.
func TestTheBeginningOfARequestKeepsNoConnectionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, _ := start(t, newRest(says("hello")), everything)
		client := newClient(m.dial(t))
		client.ask(t, ask)
		began := time.Now()
		for range 3 {
			time.Sleep(30 * time.Second)
			client.send(t, "G")
		}
		client.ended(t)
		if took := time.Since(began); took != 2*time.Minute {
			t.Errorf("closed after %v, want 2m", took)
		}
	})
}

// Times that are shorter than what a deadline may come too soon are kept, too, and connections that are used are not closed.
func TestShortTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rest := newRest(says("hello"))
		rest.IdleTimeout, rest.WriteTimeout = 500*time.Millisecond, 500*time.Millisecond
		_, m, _ := start(t, rest, everything)
		for pause := time.Millisecond; pause < 370*time.Millisecond; pause += 23 * time.Millisecond {
			client := newClient(m.dial(t))
			for range 30 {
				client.ask(t, ask)
				time.Sleep(pause)
			}
			_ = client.Close()
		}
	})
}

func TestNoTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rest := newRest(says("hello"))
		rest.ReadTimeout, rest.WriteTimeout, rest.IdleTimeout = 0, 0, 0 // but one for the first head
		_, m, _ := start(t, rest, everything)
		client := newClient(m.dial(t))
		for range 3 {
			client.ask(t, ask)
			time.Sleep(time.Hour)
		}
		client.ask(t, ask)
	})
}

// A client that asks and does not read is given up: no more than a second too soon, never too late, however large the answer is,
// however long the handler took, and whatever was answered before.
func TestAClientThatDoesNotReadIsGivenUp(t *testing.T) {
	for name, text := range map[string][]byte{"small": make([]byte, 100), "large": make([]byte, 100_000)} {
		for _, said := range []bool{true, false} {
			t.Run(name+" "+strconv.FormatBool(said), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if said {
							w.Header().Set("Content-Length", strconv.Itoa(len(text)))
						}
						if r.Method == http.MethodPut {
							time.Sleep(10 * time.Second)
						}
						_, _ = w.Write(text)
					})), everything)
					for before := range 12 {
						client := newClient(m.dial(t))
						for range before {
							client.ask(t, ask)
							time.Sleep(170 * time.Millisecond)
						}
						client.send(t, "PUT / HTTP/1.1\r\nHost: h\r\n\r\n")
						began := time.Now()
						if n, err := client.Write([]byte{'x'}); err == nil { // which waits until it is read, and nobody does
							t.Errorf("%d bytes were read", n)
						}
						if took := time.Since(began); took > 20*time.Second || took <= 19*time.Second {
							t.Errorf("given up %v after the last request of %d, want 20s", took, before+1)
						}
					}
				})
			})
		}
	}
}

// A connection that net/http gets has none of the deadlines that it had here.
func TestNoDeadlineIsHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rest := newRest(says("hello"))
		rest.ReadHeaderTimeout, rest.ReadTimeout = 0, 0 // so that net/http itself sets none for this request's head
		_, m, _ := start(t, rest, everything)
		client := newClient(m.dial(t))
		client.ask(t, ask)
		client.send(t, ask[:10])
		time.Sleep(time.Hour)
		client.ask(t, ask[10:])
	})
}
