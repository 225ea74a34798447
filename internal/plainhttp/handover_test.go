package plainhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// After a request that is not plain net/http has the connection, with all that was read of it, for good.
func TestNetHTTPTakesAConnectionOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, may := make(chan bool, 1), make(chan bool, 1)
		s, m, served := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				runs <- true
				<-may
			}
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, "%v %s", plainly(r), body)
		})), func(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/not") && r.URL.Path != "/wait" })
		client := newClient(m.dial(t))
		post := func(path, body string) string {
			return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
		}
		expect := func(want string) {
			t.Helper()
			if _, got := client.answer(t); got != want {
				t.Errorf("answered %q, want %q", got, want)
			}
		}
		client.send(t, post("/", "a"))
		expect("true a")
		synctest.Wait()
		if n := s.Conns(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
		client.send(t, post("/", "b")+post("/not", "c")+post("/", "d")) // together
		expect("true b")
		expect("false c")
		expect("false d")
		client.send(t, post("/wait", "e"))
		<-runs
		if n := s.Conns(); n != 0 {
			t.Errorf("%d connections, want 0", n)
		}
		_ = s.Close()
		if err := <-served; err != http.ErrServerClosed { // although net/http's handler runs
			t.Errorf("Serve returned %v", err)
		}
		may <- true
	})
}

// So it is on TCP, where httpconn has a connection of its own for net/http.
func TestNetHTTPTakesATCPConnectionOver(t *testing.T) {
	_, address := listen(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%v %s", plainly(r), body)
	})), nil)
	client := newClient(dial(t, address))
	var all string
	for i, method := range []string{"POST", "GET", "OPTIONS", "POST", "GET"} {
		all += fmt.Sprintf("%s / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n%d", method, i)
	}
	client.send(t, all)
	for i := range 5 {
		if _, body := client.answer(t); body != fmt.Sprintf("%v %d", i < 2, i) {
			t.Errorf("answer %d: %q", i, body)
		}
	}
}
