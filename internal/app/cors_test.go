package app_test

import (
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var corsCases = cases{
	"any site may read":          anyPageMayRead,
	"a preflight is let through": preflightIsLetThrough,
	"no site may write":          noPageMayWrite,
	"no site may use /admin":     adminIsForNoPage,
}

const origin = "https://board.example"

// preflight sends what a browser sends before a request with custom headers.
func (s *service) preflight(path, from, method, headers string) apitest.Response {
	s.t.Helper()
	return s.Do("OPTIONS", path, "", nil, apitest.Header("Origin", from),
		apitest.Header("Access-Control-Request-Method", method), apitest.Header("Access-Control-Request-Headers", headers))
}

func anyPageMayRead(t *testing.T, s *service) {
	g := s.guild(nil)
	for path, status := range map[string]int{
		boardPath(g, 1): 200, boardPath(newID(), 1): 404, memberPath(g, newID()): 401, "/v2/openapi.json": 200, "/v2/nothing": 404,
	} {
		got := s.Do("GET", path, "", nil, apitest.Header("Origin", origin)).Want(t, status)
		wantHeader(t, got, "Access-Control-Allow-Origin", "*")
		wantHeader(t, got, "Access-Control-Allow-Credentials", "")
		exposed := strings.ToLower(got.Header.Get("Access-Control-Expose-Headers"))
		for _, name := range []string{"etag", "retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} {
			if !strings.Contains(exposed, name) {
				t.Errorf("%s: header %s is not exposed to pages: %q", path, name, exposed)
			}
		}
	}
}

func preflightIsLetThrough(t *testing.T, s *service) {
	g := s.guild(nil)
	for _, path := range []string{boardPath(g, 1), memberPath(g, newID()), "/v2/openapi.json"} {
		for _, headers := range []string{"X-Api-Key", "X-API-KEY, If-None-Match", "content-type,x-api-key", "traceparent"} { // in any case
			got := s.preflight(path, origin, "GET", headers)
			wantHeader(t, got, "Access-Control-Allow-Origin", "*")
			wantHeader(t, got, "Access-Control-Allow-Headers", headers)
		}
		got := s.preflight(path, origin, "GET", "if-none-match,x-api-key")
		if got.Status != http.StatusOK && got.Status != http.StatusNoContent {
			t.Errorf("%s: a preflight is answered with %d, want 200 or 204", path, got.Status)
		}
		wantLimits(t, got)
		wantHeader(t, got, "Access-Control-Allow-Origin", "*")
		wantHeader(t, got, "Access-Control-Allow-Credentials", "")
		if methods := got.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(methods, "GET") {
			t.Errorf("%s: Access-Control-Allow-Methods is %q, want GET in it", path, methods)
		}
		allowed := strings.ToLower(got.Header.Get("Access-Control-Allow-Headers"))
		if !strings.Contains(allowed, "x-api-key") || !strings.Contains(allowed, "if-none-match") {
			t.Errorf("%s: Access-Control-Allow-Headers is %q, want X-Api-Key and If-None-Match in it", path, allowed)
		}
	}
}

func noPageMayWrite(t *testing.T, s *service) {
	g := s.guild(nil)
	for _, method := range []string{"POST", "PATCH", "DELETE"} {
		got := s.preflight(memberPath(g, newID()), origin, method, "content-type,x-api-key")
		wantLimits(t, got)
		if methods := got.Header.Get("Access-Control-Allow-Methods"); strings.Contains(methods, method) {
			t.Errorf("other sites may %s: Access-Control-Allow-Methods is %q", method, methods)
		}
	}
}

func adminIsForNoPage(t *testing.T, s *service) {
	got := s.admin("GET", "/guilds?limit=1", nil, apitest.Header("Origin", origin)).Want(t, 200)
	wantHeader(t, got, "Access-Control-Allow-Origin", "")
	wantHeader(t, s.preflight("/admin/guilds", origin, "GET", "authorization"), "Access-Control-Allow-Origin", "")
}

func TestCORSOfNamedOrigins(t *testing.T) {
	t.Parallel()
	s := start(t, append(onServers(t), "LEVELBOARD_CORS_ORIGINS="+origin+",https://two.example")...)
	g := s.guild(nil)
	for from, want := range map[string]string{origin: origin, "https://two.example": "https://two.example", "https://evil.example": "", "": ""} {
		got := s.Do("GET", boardPath(g, 1), "", nil, func(r *http.Request) {
			if from != "" {
				r.Header.Set("Origin", from)
			}
		}).Want(t, 200)
		wantHeader(t, got, "Access-Control-Allow-Origin", want)
		if vary := strings.Join(got.Header.Values("Vary"), ","); !strings.Contains(vary, "Origin") || !strings.Contains(vary, "X-Api-Key") {
			t.Errorf("Vary is %q, want Origin and X-Api-Key in it", vary)
		}
	}
	wantHeader(t, s.preflight(boardPath(g, 1), "https://evil.example", "GET", ""), "Access-Control-Allow-Origin", "")
}
