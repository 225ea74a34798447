package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/fault"
)

func TestLargeBodiesWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{largeBodies: make(chan struct{}, 2)}
		hold := func(length int64) (func(), error) {
			ctx, cancel := context.WithTimeout(t.Context(), requestTime)
			defer cancel()
			c := &gin.Context{Request: httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(""))}
			c.Request.ContentLength = length
			return a.holdLargeBody(c)
		}
		must := func(length int64) func() {
			t.Helper()
			free, err := hold(length)
			if err != nil {
				t.Fatalf("a body of %d bytes: %v", length, err)
			}
			return free
		}
		freeUnknown, freeLarge := must(-1), must(maxBody+1)
		must(maxBody)() // small ones need no room
		must(0)()

		began := time.Now()
		if _, err := hold(maxBody + 1); !fault.Is(err, fault.Unavailable) || time.Since(began) != requestTime {
			t.Errorf("one too many got %v after %v", err, time.Since(began))
		}
		waited := make(chan func())
		go func() { waited <- must(maxMessagesBody) }()
		synctest.Wait()
		freeLarge()
		(<-waited)()
		freeUnknown()
		if n := len(a.largeBodies); n != 0 {
			t.Errorf("room for %d is not given back", n)
		}
	})
}
