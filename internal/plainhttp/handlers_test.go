package plainhttp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// handlers are what a handler may do with a request, by the path's first part. All say the request's method, so that whoever reads the
// answers knows which have no body.
var handlers = map[string]http.HandlerFunc{
	"echo": func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"method": r.Method, "uri": r.RequestURI, "path": r.URL.Path, "query": r.URL.RawQuery, "proto": r.Proto, "host": r.Host,
			"header": r.Header, "length": r.ContentLength, "encoding": r.TransferEncoding, "close": r.Close, "body": string(body), "failed": failed,
		})
	},
	"unread":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "not read") },
	"partly":      func(w http.ResponseWriter, r *http.Request) { _, _ = io.CopyN(w, r.Body, 2) },
	"closed":      func(w http.ResponseWriter, r *http.Request) { _ = r.Body.Close(); _, _ = io.WriteString(w, "closed") },
	"nothing":     func(http.ResponseWriter, *http.Request) {},
	"length":      sized("5", "12345"),
	"zero":        sized("0"),
	"padded":      sized("05", "12345"),
	"short":       sized("6", "123"),
	"long":        sized("5", "123", "456"),
	"late":        sized("5", "12345", "6"),
	"nolength":    sized("", "12345"),
	"badlength":   sized("many", "12345"),
	"negative":    sized("-1", "12345"),
	"large":       sized("", strings.Repeat("large", 20_000)),
	"largelength": sized("100000", strings.Repeat("large", 20_000)),
	"largeshort":  sized("100001", strings.Repeat("large", 20_000)),
	"largelate":   sized("100000", strings.Repeat("large", 20_000), "6"),
	"largelong":   sized("5", strings.Repeat("large", 20_000)),
	"small":       sized("", strings.Split(strings.Repeat("many small writes ", 1000), " ")...),
	"smalllength": sized("15000", strings.Split(strings.Repeat("many small writes ", 1000), " ")...),
	"empty":       sized("", "", ""),
	"204":         bodiless(http.StatusNoContent),
	"304":         bodiless(http.StatusNotModified),
	"404":         func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
	"599":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(599) },
	"1000":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(1000) },
	"0":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) },
	"103":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusEarlyHints); w.WriteHeader(201) },
	"twice":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); w.WriteHeader(202) },
	"newlines":    values("a\r\nX-Forged: 1\r\n\r\nHTTP/1.1 200 OK", "b\nc", "d\re"),
	"spaces":      values("  a  ", "\tb\t", " "),
	"control":     values("a\x01b", "ä\xff"),
	"two":         func(w http.ResponseWriter, _ *http.Request) { w.Header()["Set-Cookie"] = []string{"a=1", "b=2"} },
	"none": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["X-None"], w.Header()["X-Empty"] = nil, []string{}
	},
	"undated": func(w http.ResponseWriter, _ *http.Request) { w.Header()["Date"] = nil },
	"dated":   func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", "yesterday") },
	"untyped": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = w.Write([]byte("<html>"))
	},
	"sniffed": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<ht")
		_, _ = io.WriteString(w, "ml>")
	},
	"gzipped": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b\x08")
	},
	"close":        connection("close"),
	"Close":        connection("Close"),
	"keep":         connection("keep-alive"),
	"closeandmore": connection("close, x-mine"),
	"noconnection": func(w http.ResponseWriter, _ *http.Request) { w.Header()["Connection"] = nil },
	"abort":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"panic": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "so far so good")
		panic("of a handler")
	},
	"largepanic": func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 100_000))
		panic("of a handler")
	},
	"headerlater": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Before", "1")
		w.WriteHeader(201)
		w.Header().Set("X-After", "1")
		w.Header().Del("X-Before")
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "later")
		w.Header().Set("Content-Type", "text/late")
	},
	"names": func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"X_Under", "x-lower", "X Space", "X-Colon:", "X-Line\r\nX-Forged", "", "X-Ä", "X!#$%&'*+.^`|~"} {
			w.Header()[name] = []string{"1"}
		}
	},
	"errors": func(w http.ResponseWriter, r *http.Request) { // what the handler is told of its writes
		w.WriteHeader(http.StatusNoContent)
		n, err := io.WriteString(w, "body")
		m, none := w.Write(nil)
		if n != 0 || err != http.ErrBodyNotAllowed || m != 0 || none != nil {
			panic("told something else")
		}
	},
}

func sized(length string, writes ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		for _, text := range writes {
			_, _ = io.WriteString(w, text)
		}
	}
}

func bodiless(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "5")
		w.Header().Set("Etag", `"1"`)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "12345")
	}
}

func values(v ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Header()["X-Value"] = v }
}

func connection(v string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", v)
		_, _ = io.WriteString(w, v)
	}
}

// handle has the handler that the path says answer, and counts the requests that came plainly.
func handle(plain *int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plainly(r) {
			*plain++
		}
		w.Header().Set("X-Method", r.Method)
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		h := handlers[name]
		if h == nil {
			h = handlers["echo"]
		}
		h(w, r)
	})
}
