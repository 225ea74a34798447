package monitoring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

// load sends what bots, dashboards, an operator and strangers send to a service, in a loop.
type load struct {
	t                     *testing.T
	base                  string
	http                  *http.Client
	bot, narrow, stranger string // keys: for the guild, with one request a minute, for no guild
	round                 int
}

const theGuild = "100000000000000001"

func newLoad(t *testing.T, base string) *load {
	t.Helper()
	l := &load{t: t, base: base, http: &http.Client{Transport: &http.Transport{}}}
	l.makeGuild(t.Context(), theGuild)
	webhook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(webhook.Close)
	l.do(t.Context(), "PATCH", "/admin/guilds/"+theGuild, "", `{"announcements":[{"name":"hook","kind":"webhook","url":"`+webhook.URL+`","events":["levelup"]}]}`, 200)
	l.bot = l.makeKey(t.Context(), `"guildIds":["`+theGuild+`"]`)
	l.narrow = l.makeKey(t.Context(), `"guildIds":["`+theGuild+`"],"rateLimit":1`)
	l.stranger = l.makeKey(t.Context(), `"guildIds":[]`)
	for member := range 10 {
		l.do(t.Context(), "POST", l.member(member), l.bot, `{"xp":1,"user":{"username":"gopher","avatar":null,"discriminator":"0"}}`, 200)
	}
	return l
}

// run continues until ctx ends, at a pace that leaves time for others.
func (l *load) run(ctx context.Context) {
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for ; ; l.round++ {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		l.bots(ctx)
		l.dashboards(ctx)
		l.strangers(ctx)
		if l.round%20 == 0 {
			l.operator(ctx)
		}
	}
}

func (l *load) bots(ctx context.Context) {
	l.do(ctx, "PATCH", l.member(l.round%10), l.bot, `{"xp":{"increment":200}}`, 200)
	for range 2 {
		l.do(ctx, "PATCH", l.member(1), l.bot, `{"xp":{"increment":1}}`, 200, "Idempotency-Key", fmt.Sprint("round-", l.round))
	}
	said := fmt.Sprintf(`{"userId":"3%017d","channelId":"200000000000000001"}`, l.round)
	l.do(ctx, "POST", "/v2/guilds/"+theGuild+"/messages", l.bot, `{"messages":[`+said+`,`+said+`]}`, 200)
	l.do(ctx, "GET", l.member(1), l.bot, "", 200)
	l.do(ctx, "POST", "/v2/guilds/"+theGuild+"/messages", l.bot, `{"messages":[]}`, 400)
	l.do(ctx, "PUT", "/v2/guilds/"+theGuild+"/hidden", l.bot, fmt.Sprintf(`{"by":"manager","hidden":%t,"userIds":["4%017d"]}`, l.round%2 == 0, 9), 200)
}

func (l *load) dashboards(ctx context.Context) {
	page := "/v2/levels/" + theGuild + "?page=1"
	tag := l.do(ctx, "GET", page, "", "", 200).Get("ETag")
	l.do(ctx, "GET", page, "", "", 200)
	l.do(ctx, "GET", page, "", "", 0, "If-None-Match", tag)
}

func (l *load) strangers(ctx context.Context) {
	l.do(ctx, "GET", l.member(1), l.narrow, "", 0) // 200 once a minute, else 429
	l.do(ctx, "GET", l.member(1), l.stranger, "", 403)
	l.do(ctx, "GET", l.member(1), "lb_made_up", "", 401)
}

// operator creates another guild, which is then loaded.
func (l *load) operator(ctx context.Context) {
	id := fmt.Sprintf("5%017d", l.round)
	l.makeGuild(ctx, id)
	l.do(ctx, "GET", "/v2/levels/"+id+"?page=1", "", "", 200)
	l.makeKey(ctx, `"guildIds":["`+id+`"]`)
}

// follow opens a stream of events and reads it.
func (l *load) follow(ctx context.Context) {
	r, err := http.NewRequestWithContext(ctx, "GET", l.base+"/v2/guilds/"+theGuild+"/events", nil)
	if err != nil {
		l.t.Error(err)
		return
	}
	r.Header.Set("X-Api-Key", l.bot)
	resp, err := l.http.Do(r)
	if err != nil && ctx.Err() != nil {
		return
	}
	if err != nil {
		l.t.Errorf("following the events: %v", err)
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); ctx.Err() == nil {
		l.t.Errorf("the stream of events ended too early: %v", err)
	}
}

func (l *load) member(n int) string {
	return fmt.Sprintf("/v2/levels/%s/users/4%017d", theGuild, n)
}

func (l *load) makeGuild(ctx context.Context, id string) {
	l.do(ctx, "PUT", "/admin/guilds/"+id, "", `{"name":"Gophers","memberCount":10,"ownerId":"900000000000000001","xpGainInterval":60000}`, 0)
}

func (l *load) makeKey(ctx context.Context, with string) string {
	var made struct{ Key string }
	body := l.body(ctx, "POST", "/admin/keys", "", `{"name":"bot","ownerId":"900000000000000002","permission":"read_write",`+with+`}`, 201)
	if err := json.Unmarshal(body, &made); err != nil && ctx.Err() == nil {
		l.t.Errorf("creating a key: %v: %s", err, body)
	}
	return made.Key
}

// do sends a request and returns the answer's headers. The answer must have status, unless that is 0. headers are name, value, name, value.
func (l *load) do(ctx context.Context, method, path, key, body string, status int, headers ...string) http.Header {
	resp, _ := l.send(ctx, method, path, key, body, status, headers...)
	return resp
}

func (l *load) body(ctx context.Context, method, path, key, body string, status int) []byte {
	_, content := l.send(ctx, method, path, key, body, status)
	return content
}

func (l *load) send(ctx context.Context, method, path, key, body string, status int, headers ...string) (http.Header, []byte) {
	headers = append(headers, "X-Api-Key", key)
	if strings.HasPrefix(path, "/admin") {
		headers = append(headers, "Authorization", "Bearer "+service.AdminToken)
	}
	got, err := testenv.Send(ctx, l.http, method, l.base+path, body, headers...)
	if ctx.Err() != nil {
		return http.Header{}, nil
	}
	// On a busy machine it may be 503, because a store does not answer in time. If it always were, there would be no data.
	if err != nil || status != 0 && got.Status != status && got.Status != http.StatusServiceUnavailable {
		l.t.Errorf("%s %s: status %d, want %d: %s (%v)", method, path, got.Status, status, got.Body, err)
		return http.Header{}, nil
	}
	return got.Header, got.Body
}
