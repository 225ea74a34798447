package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"levelboard/docs"
)

func TestOpenAPIIsSentAsGzip(t *testing.T) {
	deps := &instant{}
	api, err := New(Deps{
		Keys: deps, Limiter: deps, OpenAPI: docs.OpenAPI, CORSOrigins: []string{"https://example.test"}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, accept, origin string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/v2/openapi.json", nil)
		for name, value := range map[string]string{"Accept-Encoding": accept, "Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		accept, coding string
	}{{"", ""}, {"identity", ""}, {"br", ""}, {"gzip;q=0", ""}, {"gzip", "gzip"}, {"br, gzip;q=0.5", "gzip"}, {"*", "gzip"}} {
		for _, origin := range []string{"", "https://example.test", "https://other.test"} {
			got := ask(http.MethodGet, c.accept, origin)
			h := got.Header()
			body := got.Body.Bytes()
			for name, want := range map[string]string{
				"Content-Encoding": c.coding, "Vary": "Origin, Accept-Encoding", "Content-Type": "application/json", "Cache-Control": "public, max-age=3600",
				"Content-Length": strconv.Itoa(len(body)),
			} {
				if is := h.Get(name); is != want || len(h.Values(name)) > 1 {
					t.Errorf("Accept-Encoding %q, Origin %q: %s is %q, want %q", c.accept, origin, name, h.Values(name), want)
				}
			}
			if allowed := h.Get("Access-Control-Allow-Origin"); allowed != "" && origin != "https://example.test" {
				t.Errorf("Origin %q gets Access-Control-Allow-Origin %q, want none", origin, allowed)
			}
			if c.coding == "gzip" {
				if len(body) > len(docs.OpenAPI)/4 {
					t.Errorf("packed, openapi.json has %d bytes of %d, want a quarter at most", len(body), len(docs.OpenAPI))
				}
				unpacked, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(unpacked); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(body, docs.OpenAPI) {
				t.Errorf("Accept-Encoding %q: the body is not openapi.json", c.accept)
			}
			if head := ask(http.MethodHead, c.accept, origin).Header(); head.Get("Content-Encoding") != c.coding || head.Get("Content-Length") != h.Get("Content-Length") {
				t.Errorf("Accept-Encoding %q: HEAD has the headers %v, want GET's %v", c.accept, head, h)
			}
		}
	}
}
