package plainhttp_test

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Two answers on one connection are what each of them is on its own, in any order.
func TestNothingOfAnAnswerIsInTheNext(t *testing.T) {
	answers := map[string]string{}
	request := func(name string) string { return "GET /" + name + " HTTP/1.1\r\nHost: h\r\n\r\n" }
	synctest.Test(t, func(t *testing.T) {
		var plain int
		_, m, _ := start(t, newRest(handle(&plain)), everything)
		said := func(c io.ReadWriteCloser, names ...string) []string {
			defer func() { _ = c.Close() }()
			go func() {
				for _, name := range names {
					_, _ = io.WriteString(c, request(name))
				}
				time.Sleep(time.Second)
				_ = c.Close()
			}()
			all, _ := io.ReadAll(c)
			return parse(all)
		}
		for name := range handlers {
			if alone := said(m.dial(t), name); len(said(m.dial(t), name, "echo")) == 2 { // or the connection is closed after it
				answers[name] = alone[0]
			}
		}
		if len(answers) < 20 {
			t.Fatalf("only %d handlers let the connection go on", len(answers))
		}
		for first := range answers {
			for second := range answers {
				both := said(m.dial(t), first, second)
				if len(both) != 2 || both[0] != answers[first] || both[1] != answers[second] {
					t.Errorf("%s, then %s:\n%s", first, second, strings.Join(both, "\n"))
				}
			}
		}
	})
}

// A connection that waits for its next request does not keep the memory of a large answer.
func TestAnIdleConnectionKeepsLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				w.Header().Set("X-Large", strings.Repeat("a", 100_000))
			}
			_, _ = w.Write(make([]byte, 1<<20))
		})), everything)
		client := newClient(m.dial(t))
		for _, method := range []string{"GET", "PUT"} {
			client.r.Reset(client)
			client.send(t, method+ask[3:])
			if answer, err := http.ReadResponse(client.r, nil); err != nil {
				t.Fatal(err)
			} else if n, err := io.Copy(io.Discard, answer.Body); n != 1<<20 || err != nil {
				t.Fatal(n, err)
			}
			synctest.Wait()
			if kept := s.Kept(); kept > 32<<10 {
				t.Errorf("%d bytes are kept after %s", kept, method)
			}
		}
	})
}

// A handler that kept its writer or its request's body cannot write into the next answer, nor read the next request.
func TestWhatAHandlerKeepsIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writer http.ResponseWriter
		var body io.Reader
		_, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if writer == nil {
				writer, body = w, r.Body
				_, _ = io.WriteString(w, "first")
				return
			}
			writer.Header().Set("X-Late", "1")
			writer.WriteHeader(http.StatusTeapot)
			if n, err := io.WriteString(writer, "late"); n != 0 || err == nil {
				t.Errorf("a late write: %d, %v", n, err)
			}
			if read, err := io.ReadAll(body); len(read) != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
				t.Errorf("a late read: %q, %v", read, err)
			}
			_, _ = io.Copy(w, r.Body)
		})), everything)
		client := newClient(m.dial(t))
		client.ask(t, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
		answer, text := client.ask(t, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nnext")
		if text != "next" || answer.StatusCode != 200 || answer.Header.Get("X-Late") != "" {
			t.Errorf("the next answer: %s %v %q", answer.Status, answer.Header, text)
		}
	})
}

// A goroutine that writes while its handler returns, and goes on, writes into its own answer or nowhere.
func TestAWriterThatGoesOnAfterItsHandler(t *testing.T) {
	var writers sync.WaitGroup
	s, address := listen(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := []byte(r.URL.Path[1:])
		whole := r.Method == http.MethodPut
		if whole { // which is sent at once
			text = bytes.Repeat(text, 10_000)
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		}
		writes := make(chan bool)
		writers.Go(func() {
			close(writes)
			for late, all := 0, 0; late < 100; late++ {
				if all++; all > 1_000_000 {
					t.Error("the writer is never told that its handler has returned")
					return
				}
				w.Header()
				w.WriteHeader(http.StatusAccepted)
				if n, _ := w.Write(text); n > 0 {
					if late = 0; whole {
						return
					}
				}
				runtime.Gosched()
			}
		})
		<-writes
		if r.Method == http.MethodDelete {
			panic(http.ErrAbortHandler)
		}
	})), nil)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		for range 20 {
			client := newClient(dial(t, address))
			for i := range 20 {
				digit := strconv.Itoa(i % 10)
				client.send(t, method+" /"+digit+" HTTP/1.1\r\nHost: h\r\n\r\n")
				answer, err := http.ReadResponse(client.r, nil)
				if err != nil && method == "DELETE" {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(answer.Body)
				if text := strings.Trim(string(body), digit); text != "" {
					t.Errorf("%s: the answer to %s has %.20q in it", method, digit, text)
				}
				if err != nil { // the handler returned before all that it said was written
					break
				}
			}
		}
	}
	if err := s.Shutdown(t.Context()); err != nil { // so that there are no more writers
		t.Error(err)
	}
	writers.Wait()
}

// What an answer may be without is left out: what comes before it, and an encoding for a body whose length is known.
func TestWhatIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Transfer-Encoding", "chunked")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "body")
		})), everything)
		client := newClient(m.dial(t))
		for range 2 {
			answer, body := client.ask(t, ask)
			if answer.StatusCode != http.StatusCreated || answer.TransferEncoding != nil || answer.ContentLength != 4 || body != "body" {
				t.Errorf("%s, %v, %d %q", answer.Status, answer.TransferEncoding, answer.ContentLength, body)
			}
		}
	})
}

// More than it said is refused as a whole, and the handler is told.
func TestAHandlerThatWritesMoreThanItSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			for text, want := range map[string]error{"123456": http.ErrContentLength, "": nil} {
				if n, err := io.WriteString(w, text); n != 0 || err != want {
					t.Errorf("write %q: %d, %v", text, n, err)
				}
			}
		})), everything)
		client := newClient(m.dial(t))
		client.send(t, ask)
		answer, err := http.ReadResponse(client.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); len(body) != 0 || err != io.ErrUnexpectedEOF {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// However a handler ends that does not return, its connection ends with it, and the log says so where it is an accident.
func TestHandlersThatDoNotReturn(t *testing.T) {
	for name, c := range map[string]struct {
		end    func()
		logged string
	}{
		"a panic":       {func() { panic("of a handler") }, "panic serving pipe: of a handler\n"},
		"an aborted":    {func() { panic(http.ErrAbortHandler) }, ""},
		"a nil pointer": {func() { var p *http.Request; p.Method = "x" }, "nil pointer"},
		"a Goexit":      {runtime.Goexit, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged strings.Builder
				rest := newRest(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = io.WriteString(w, "so far so good")
					c.end()
				}))
				rest.ErrorLog = log.New(&logged, "", 0)
				s, m, _ := start(t, rest, everything)
				client := newClient(m.dial(t))
				client.send(t, ask)
				client.ended(t)
				synctest.Wait()
				if n := s.Conns(); n != 0 {
					t.Errorf("%d connections are left", n)
				}
				if said := logged.String(); !strings.Contains(said, c.logged) || (c.logged == "") != (said == "") {
					t.Errorf("logged %q", said)
				}
				if c.logged != "" && !strings.Contains(logged.String(), "answer_test.go") {
					t.Errorf("the log does not say where: %q", logged.String())
				}
			})
		})
	}
}
