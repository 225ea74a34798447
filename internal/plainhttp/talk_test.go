package plainhttp_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/plainhttp"
	"levelboard/internal/testenv"
)

// piped is testenv.Piped for a bubble of synctest, which must not end before net/http has: it waits half a second before it closes a
// connection of which it has not read all, be it closed by the client.
func piped(t *testing.T, server testenv.Server) net.Conn {
	t.Helper()
	t.Cleanup(func() { // after both ends were closed
		time.Sleep(time.Second)
		synctest.Wait()
	})
	return testenv.Piped(t, server)
}

// talk sends the packets over one connection, each when the server is done with those before, and returns what came back and whether
// the server closed the connection. It is for a bubble of synctest.
func talk(t *testing.T, server testenv.Server, packets []string) (said []byte, closed bool) {
	t.Helper()
	c := piped(t, server)
	var heard bytes.Buffer
	go func() {
		_, _ = io.Copy(&heard, c)
		closed = true
	}()
	for _, packet := range packets {
		if _, err := io.WriteString(c, packet); err != nil {
			break // closed by the server
		}
		synctest.Wait()
	}
	time.Sleep(time.Second) // net/http may wait half a second before it closes the connection
	synctest.Wait()
	return bytes.Clone(heard.Bytes()), closed
}

// parse returns the answers in what a server said, without what may differ: dates, and how a body's end is told. An answer that is not
// all there is none.
func parse(said []byte) (answers []string) {
	r := bufio.NewReaderSize(bytes.NewReader(said), len(said)+16)
	for {
		head, err := r.Peek(r.Size() - 16)
		if err != nil && len(head) == 0 {
			head, _ = r.Peek(r.Buffered())
		}
		if len(head) == 0 {
			return answers
		}
		request := &http.Request{Method: "GET"}
		if end := bytes.Index(head, []byte("\r\n\r\n")); end >= 0 && bytes.Contains(head[:end], []byte("\r\nX-Method: HEAD")) {
			request.Method = "HEAD"
		}
		answer, err := http.ReadResponse(r, request)
		if err != nil {
			return append(answers, "unreadable: "+err.Error())
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return answers
		}
		switch {
		case answer.StatusCode < 200:
			continue // it is no answer, and may be left out
		case request.Method != "HEAD" && answer.StatusCode != 204 && answer.StatusCode != 304:
			answer.Header.Del("Content-Length") // or there would have been an error
		}
		if date := answer.Header.Get("Date"); date != "" && date != "yesterday" {
			answer.Header.Set("Date", "today")
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s close=%v", answer.Proto, answer.Status, answer.Close)
		for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
			fmt.Fprintf(&b, "\n%s: %q", name, answer.Header[name])
		}
		fmt.Fprintf(&b, "\n%d %q", len(body), shortened(body))
		answers = append(answers, b.String())
	}
}

func shortened(body []byte) []byte {
	if len(body) > 10_000 {
		return body[:10_000]
	}
	return body
}

// compare sends the packets to both servers, and returns how many answers came and how many requests were answered plainly.
func compare(t *testing.T, packets []string) (answers, plain int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var unused int
		theirs, theyClosed := talk(t, newRest(handle(&unused)), packets)
		ours, weClosed := talk(t, plainhttp.New(newRest(handle(&plain)), everything), packets)
		want, got := parse(theirs), parse(ours)
		if !slices.Equal(want, got) {
			t.Errorf("%.500q\nnet/http answers\n%s\n\nplainhttp answers\n%s", packets, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
		if theyClosed != weClosed {
			t.Errorf("%.500q: net/http closes: %v; plainhttp closes: %v", packets, theyClosed, weClosed)
		}
		answers = len(got)
	})
	return answers, plain
}
