package app

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/endless"
	"levelboard/internal/testing/testenv"
)

// ask serves a request with the settings of the API's listener, and returns the answer once it begins.
func ask(t *testing.T, handler http.Handler) *http.Response {
	t.Helper()
	c := testenv.Piped(t, newServer(handler, apiWriteTime, slog.New(slog.DiscardHandler)))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// A client that does not read its answer must not hold a place among the requests in flight for long.
func TestAClientThatDoesNotReadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, gaveUp := time.Now(), make(chan time.Duration, 1)
		ask(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(10 * time.Second) // the longest that the work may take
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					gaveUp <- time.Since(began)
					return
				}
			}
		}))
		if took := <-gaveUp; took != 20*time.Second {
			t.Errorf("the answer was given up after %v, want 20s", took)
		}
	})
}

// The write timeout does not apply to an endless answer: it continues after an hour, and after a long silence.
func TestAStreamOutlivesTheTimeForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "data: x\n\n"
		router := gin.New()
		router.GET("/", func(c *gin.Context) {
			stream, end := endless.Begin(c, nil)
			defer end()
			for range 60 {
				if err := stream.Write([]byte(text)); err != nil {
					t.Errorf("writing to the stream: %v, want it to stay open", err)
					return
				}
				time.Sleep(time.Minute)
			}
			_ = stream.Write([]byte("end"))
		})
		body := ask(t, router).Body
		for range 60 {
			read := make([]byte, len(text))
			if _, err := io.ReadFull(body, read); err != nil || string(read) != text {
				t.Fatalf("the client read %q (%v), want %q", read, err, text)
			}
		}
		last := make([]byte, 3)
		if _, err := io.ReadFull(body, last); err != nil {
			t.Error(err)
		}
	})
}
