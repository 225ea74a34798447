package apitest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const (
	memberURL = "/v2/levels/200000000000000001/users/100000000000000002"
	summaryOK = `{"level":{"level":2,"messageCount":0,"xp":150}}`
	memberOK  = `{"level":{"lastUpdated":null,"level":2,"messageCount":0,"rank":1,"xp":150},` +
		`"user":{"avatar":null,"discriminator":"0","globalName":null,"username":"ada"}}`
	boardOK = `{"guild":{"icon":null,"id":"200000000000000001","memberCount":1,"name":"Gophers"},"isManager":false,"levels":[],` +
		`"multipliers":[],"roleRewards":[],"vanity":null,"xpGainInterval":60000,"xpGlobalMultiplier":1,"xpPerMessageMax":40,"xpPerMessageMin":15}`
	failure = `{"message":"No."}`
)

// verdict stands in for the test that uses the transport, and records what is reported.
type verdict struct {
	testing.TB
	mu       sync.Mutex
	problems []string
}

func (v *verdict) Helper() {}

func (v *verdict) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// said is the answer that the server must give. It is valid unless a case changes it.
type said struct {
	status int
	body   string
	header map[string]string // an empty value removes the header
}

func (s said) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-RateLimit-Limit", "120")
	h.Set("X-RateLimit-Remaining", "119")
	h.Set("X-RateLimit-Reset", "1")
	h.Set("Content-Type", "application/json")
	for name, value := range s.header {
		if h.Set(name, value); value == "" {
			h.Del(name)
		}
	}
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.body)
}

// ask sends a request to a server that answers with s, and returns what the transport reported.
func ask(t *testing.T, s said, method, path, body string, options ...Option) []string {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	v := &verdict{TB: t}
	client := NewClient(v, server.URL)
	defer client.http.CloseIdleConnections()
	var content any
	if body != "" {
		content = body
	}
	if _, err := client.send(method, path, "lb_key", content, options...); err != nil {
		t.Fatal(err)
	}
	return v.problems
}

var pageHeaders = map[string]string{"ETag": `"1"`, "Cache-Control": "no-cache", "Vary": "X-Api-Key"}

func TestTheTransportReportsInvalidAnswers(t *testing.T) {
	cases := []struct {
		name, method, path, body string
		answer                   said
		want                     string
	}{
		{"stray property", "GET", memberURL, "", said{status: 200, body: strings.Replace(memberOK, `"rank"`, `"stray":1,"rank"`, 1)}, "stray"},
		{"missing property", "GET", memberURL, "", said{status: 200, body: strings.Replace(memberOK, `"rank":1,`, ``, 1)}, "rank"},
		{"property twice", "GET", memberURL, "", said{status: 200, body: strings.Replace(memberOK, `"rank":1`, `"rank":1,"rank":1`, 1)}, "unique names"},
		{"no body", "GET", memberURL, "", said{status: 200}, "one JSON value"},
		{"not JSON", "GET", memberURL, "", said{status: 200, body: memberOK, header: map[string]string{"Content-Type": "text/plain"}}, "Content-Type"},
		{"missing limit header", "GET", memberURL, "", said{status: 200, body: memberOK, header: map[string]string{"X-RateLimit-Reset": ""}}, "X-RateLimit-Reset"},
		{"missing limit header on a failure", "GET", memberURL, "", said{status: 404, body: failure, header: map[string]string{"X-RateLimit-Limit": ""}}, "X-RateLimit-Limit"},
		{"missing ETag", "GET", "/v2/levels/gophers?page=1", "", said{status: 200, body: boardOK, header: map[string]string{"Cache-Control": "no-cache", "Vary": "X-Api-Key"}}, "ETag"},
		{"missing Retry-After", "GET", memberURL, "", said{status: 429, body: failure}, "Retry-After"},
		{"undocumented status", "GET", memberURL, "", said{status: 418, body: failure}, "418 is not documented"},
		{"failure without a message", "GET", memberURL, "", said{status: 404, body: `{"error":"No."}`}, "message"},
		{"unknown address answered", "GET", "/v2/nothing", "", said{status: 200, body: `{}`}, "must not be answered with 200"},
		{"wrong method answered", "PUT", memberURL, "", said{status: 200, body: memberOK}, "must not be answered with 200"},
		{"no Allow", "PUT", memberURL, "", said{status: 405, body: failure}, "Allow"},
		{"untrue Allow", "PUT", memberURL, "", said{status: 405, body: failure, header: map[string]string{"Allow": "GET, HEAD"}}, "the Allow header lists"},
		{"preflight without limits", "OPTIONS", memberURL, "", said{status: 200, header: map[string]string{"X-RateLimit-Limit": ""}}, "Ratelimit-Limit"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			all := strings.Join(ask(t, c.answer, c.method, c.path, c.body), "\n")
			if !strings.Contains(all, c.want) {
				t.Fatalf("the transport reports %q, want %q in it", all, c.want)
			}
		})
	}
}

func TestTheTransportReportsInvalidRequests(t *testing.T) {
	refused := said{status: 400, body: failure}
	cases := []struct{ name, method, path, body string }{
		{"short snowflake", "GET", "/v2/levels/1/users/2", ""},
		{"missing page", "GET", "/v2/levels/gophers", ""},
		{"page 0", "GET", "/v2/levels/gophers?page=0", ""},
		{"no body", "PATCH", memberURL, ""},
		{"unknown property", "PATCH", memberURL, `{"xp":1,"stray":1}`},
		{"property twice", "PATCH", memberURL, `{"xp":1,"xp":1}`},
		{"XP over the bound", "PATCH", memberURL, `{"xp":2147483648}`},
		{"bad avatar", "POST", memberURL, `{"xp":1,"user":{"avatar":"x","discriminator":"0","username":"ada"}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if problems := ask(t, refused, c.method, c.path, c.body, Bad()); len(problems) != 0 {
				t.Errorf("for a marked and refused request the transport reports %s, want nothing", strings.Join(problems, "\n"))
			}
			if all := strings.Join(ask(t, refused, c.method, c.path, c.body), "\n"); !strings.Contains(all, "not marked") {
				t.Errorf("for an unmarked request the transport reports %q, want that it is not marked", all)
			}
			accepting := said{status: 200, body: summaryOK, header: pageHeaders}
			if all := strings.Join(ask(t, accepting, c.method, c.path, c.body, Bad()), "\n"); !strings.Contains(all, "accepted a request") {
				t.Errorf("for an accepted request the transport reports %q, want that it was accepted", all)
			}
		})
	}
}

func TestTheTransportReportsAnswersWithoutCredentials(t *testing.T) {
	anonymous := func(r *http.Request) { r.Header.Del("X-Api-Key") }
	if all := strings.Join(ask(t, said{status: 200, body: memberOK}, "GET", memberURL, "", anonymous), "\n"); !strings.Contains(all, "without credentials") {
		t.Errorf("for a member without a key the transport reports %q", all)
	}
	if problems := ask(t, said{status: 401, body: failure}, "GET", memberURL, "", anonymous); len(problems) != 0 {
		t.Errorf("for a 401 without a key the transport reports %v, want nothing", problems)
	}
	page := said{status: 200, body: boardOK, header: pageHeaders}
	if problems := ask(t, page, "GET", "/v2/levels/gophers?page=1", "", anonymous); len(problems) != 0 {
		t.Errorf("for a leaderboard without a key the transport reports %v, want nothing", problems)
	}
	if all := strings.Join(ask(t, said{status: 204}, "DELETE", "/admin/keys/k3v9qzr2m8xa", ""), "\n"); !strings.Contains(all, "Authorization is missing") {
		t.Errorf("for /admin with an API key the transport reports %q", all)
	}
}
