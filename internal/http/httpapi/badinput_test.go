package httpapi

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/docs"
	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/testing/apitest"
)

const adminToken = "an-operators-token-of-enough-length"

// route is a valid request of a route, without credentials. {guild}, {user} and {other} stand for ids.
type route struct{ method, path, query, body string }

// routes returns the routes of openapi.json.
func routes(t *testing.T) (all []route) {
	t.Helper()
	for _, c := range apitest.Calls(t, "{guild}", "{user}") {
		all = append(all, route{c.Method, c.Path, c.Query, c.Body})
	}
	return all
}

// badRequest must be refused with its status.
type badRequest struct {
	route
	status int
	header http.Header // over Content-Type: application/json when there is a body
}

// TestBadInput sends invalid requests of every kind. A handler that reaches a use case fails, because there is none.
func TestBadInput(t *testing.T) {
	d := &instant{key: &apikey.Key{ID: "k", OwnerID: "300000000000000001", Permission: apikey.ReadWrite, GuildIDs: []id.Guild{benchGuild}}}
	handler, err := New(Deps{
		Keys: d, Limiter: d, AdminToken: adminToken, KeyLimit: 120, IdentityLimit: 1500, OpenAPI: docs.OpenAPI, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	all := routes(t)
	for about, requests := range map[string][]badRequest{
		"addresses": badAddresses(all), "queries": badQueries(all), "bodies": badBodies(all), "no bodies": badBodiless(all), "names of requests": badOnceNames(all),
		"event ids": badEventIDs(), "reasons": badReasons(all), "properties": badProperties(), "parameters": badParameters(),
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			client := apitest.NewClient(t, server.URL)
			for _, bad := range requests {
				bad.isRefused(t, client)
			}
		})
	}
}

var fillIDs = strings.NewReplacer("{guild}", benchGuild, "{user}", "100000000000000007", "{other}", "100000000000000008")

// isRefused sends the request and returns the message of its refusal.
func (bad badRequest) isRefused(t *testing.T, client *apitest.Client) string {
	t.Helper()
	path, key := fillIDs.Replace(bad.path), "lb_known"
	if bad.query != "" {
		path += "?" + fillIDs.Replace(bad.query)
	}
	if strings.HasPrefix(path, "/admin") {
		key = ""
	}
	var body any
	if bad.body != "" {
		body = fillIDs.Replace(bad.body)
	}
	got := client.Do(bad.method, path, key, body, apitest.Bad(), func(r *http.Request) {
		if key == "" {
			r.Header.Set("Authorization", "Bearer "+adminToken)
		}
		for name, values := range bad.header {
			r.Header[name] = values
		}
	})
	what := fmt.Sprintf("%s %.120s with %.200q", bad.method, path, bad.body)
	var answer map[string]any
	if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != bad.status || len(answer) != 1 || len(got.Body) > 600 {
		t.Errorf("%s is %d %.700s, want %d and a message (%v)", what, got.Status, got.Body, bad.status, err)
		return ""
	}
	if limits := len(got.Header.Values("X-RateLimit-Limit")); strings.HasPrefix(path, "/v2") && limits != 1 {
		t.Errorf("%s: %d X-RateLimit-Limit headers, want 1", what, limits)
	}
	return fmt.Sprint(answer["message"])
}

// badSnowflakes are put into paths, so they are encoded.
var badSnowflakes = []string{
	"1234567890123456", "12345678901234567890", "012345678901234567", "12345678901234567a", "0x1234567890123456", "-12345678901234567", "123456789012345678.0",
	"%20123456789012345678", "123456789012345678%0A", "123456789012345678%00", "%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5%D9%A6%D9%A7%D9%A8%D9%A9", "123456789012345678%2F1",
	"%2F", "%FF23456789012345678", "me", "*", "%7Bid%7D", strings.Repeat("1", 3000),
}

func badAddresses(routes []route) (all []badRequest) {
	for _, r := range routes {
		for _, name := range []string{"{guild}", "{user}"} {
			if !strings.Contains(r.path, name) {
				continue
			}
			vanity := name == "{guild}" && strings.HasPrefix(r.path, "/v2/levels/{guild}") && !strings.Contains(r.path, "/users/")
			for _, id := range append(badSnowflakes, "+12345678901234567") {
				if vanity && regexp.MustCompile(`^[0-9a-z]{2,}$`).MatchString(id) {
					continue
				}
				bad := r
				bad.path = strings.Replace(r.path, name, id, 1)
				all = append(all, badRequest{bad, 400, nil})
			}
		}
		for _, path := range []string{r.path + "/", r.path + "/x/y/z", strings.Replace(r.path, "/v2/", "/V2/", 1), strings.Replace(r.path, "/v2/", "/v2//", 1), strings.Replace(r.path, "/v2/", "/v1/", 1)} {
			if path != r.path {
				all = append(all, badRequest{route{r.method, path, r.query, r.body}, 404, nil})
			}
		}
		if !slices.ContainsFunc(routes, func(other route) bool { return other.method == "PATCH" && other.path == r.path }) {
			all = append(all, badRequest{route{"PATCH", r.path, "", ""}, 405, nil})
		}
	}
	for _, entry := range []string{"go-phers", "go_phers", "go%20phers", "gophers.", "g%C3%B6phers", "gopher%C4%B1", "%E2%84%AAelvin", "{guild}%2F", "{guild}%2Fusers%2F{user}", "gophers%00", "gophers%FF", "gophers%25"} {
		all = append(all, badRequest{route{"GET", "/v2/levels/" + entry, "page=1", ""}, 400, nil})
	}
	for _, path := range []string{"/v2/levels/{guild}/users", "/v2/guilds/{guild}/role-rewards", "/v2/guilds/{guild}", "/v2/levels/{guild}%2Fusers/{user}", "/v2/levels/../openapi.json", "/levels/{guild}", "/admin", "/admin/guilds/"} {
		all = append(all, badRequest{route{"GET", path, "", ""}, 404, nil})
	}
	return all
}

// badQueries returns queries that no route accepts.
func badQueries(routes []route) (all []badRequest) {
	for _, r := range routes {
		for _, query := range []string{"a=%zz", "%zz=1", "a=%f", "a=1;b=2", "a=1&a=2", "a=1&a=1"} {
			bad := r
			if bad.query = strings.TrimPrefix(r.query+"&"+query, "&"); r.query == "" {
				bad.query = query
			}
			all = append(all, badRequest{bad, 400, nil})
		}
	}
	return all
}

// badBodies returns bodies that every route with a body refuses, made from a valid one.
func badBodies(routes []route) (all []badRequest) {
	for _, r := range routes {
		if r.body == "" {
			continue
		}
		send := func(status int, body string, header http.Header) {
			all = append(all, badRequest{route{r.method, r.path, r.query, body}, status, header})
		}
		good, limit := r.body, 64<<10
		if strings.HasSuffix(r.path, "/messages") || strings.HasSuffix(r.path, "/directory") || strings.HasSuffix(r.path, "/members") {
			limit = 1 << 20
		}
		if path.Dir(r.path) == "/admin/guilds" {
			limit = 256 << 10
		}
		send(413, `{"name":"`+strings.Repeat("x", limit)+`"}`, nil)
		send(413, good+strings.Repeat(" ", limit+1-len(fillIDs.Replace(good))), nil)
		open := good[:len(good)-1]
		for _, body := range []string{
			" \n", "null", "[" + good + "]", `"{}"`, "1", "true", good + good, good + "x", good + ",", good + "\x00", "\ufeff" + good, open, open + ",\"x\":\"\xff\"}", "\xff\xfe{\x00}\x00",
			open + ",}", "/* */" + good, strings.ReplaceAll(good, `"`, `'`), open + `,"more":1}`, open + `,"":1}`, open + `,"__proto__":{}}`, strings.Repeat("[", 20000), "xp=1&user=ada", open + `,"\ud800":1}`,
		} {
			send(400, body, nil)
		}
		for _, property := range topLevel(good) {
			send(400, open+`,"`+property+`":1}`, nil)
			send(400, strings.Replace(good, `"`+property+`"`, `"`+strings.ToUpper(property)+`"`, 1), nil)
			send(400, open+`,"`+strings.ToUpper(property)+`":1}`, nil)
			send(400, open+fmt.Sprintf(`,"\u%04x%s":1}`, property[0], property[1:]), nil)
			send(400, strings.Replace(good, `"`+property+`"`, `"x"`, 1), nil)
		}
		for _, media := range [][]string{
			{"text/plain"}, {"application/x-www-form-urlencoded"}, nil, {""}, {"application/vnd.api+json"}, {"text/json"}, {"application/json; charset"}, {"application/json; charset=iso-8859-1"},
			{"application/json, text/plain"}, {"application/json", "text/plain"}, {"multipart/form-data; boundary=x"},
		} {
			send(415, good, http.Header{"Content-Type": media})
		}
		for _, encoding := range [][]string{{"gzip"}, {"identity", "gzip"}} {
			send(415, good, http.Header{"Content-Encoding": encoding})
		}
		send(400, "", http.Header{"Content-Type": {"application/json"}})
	}
	return all
}

// topLevel returns the names of an object's properties.
func topLevel(body string) (names []string) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(fillIDs.Replace(body)), &object); err != nil {
		panic(err)
	}
	for name := range object {
		names = append(names, name)
	}
	return names
}

// badBodiless returns requests with a body for routes that take none.
func badBodiless(routes []route) (all []badRequest) {
	for _, r := range routes {
		if r.body != "" || r.method == "GET" {
			continue
		}
		for _, body := range []string{`{"a":1}`, `null`, `[]`, `""`, `{}{}`, `{`, " ", "a=1", `{"":{}}`, strings.Repeat(" ", 64<<10+1)} {
			all = append(all, badRequest{route{r.method, r.path, "", body}, 400, nil})
		}
		all = append(all, badRequest{route{r.method, r.path, "", "a=1"}, 400, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}})
	}
	return all
}
