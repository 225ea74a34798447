package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/config"
	"levelboard/internal/testing/testenv"
)

const (
	readMembers = 100_000
	readGuild   = "100000000000000001"
)

// BenchmarkMemberReads compares reads of members as a client sees them, on servers, each in turn with the others: medians, and what each takes of
// a member's read or of a page. No page is read twice, so each is read and encoded. Run it with -benchtime 900x at most.
func BenchmarkMemberReads(b *testing.B) {
	b.Run("guild=plain", func(b *testing.B) { benchmarkReads(b, "[]", "") })
	b.Run("guild=periods", func(b *testing.B) { benchmarkReads(b, `["day","week","month"]`, "&period=day") })
}

func benchmarkReads(b *testing.B, periods, query string) {
	c := newReader(b, periods)
	pages, n := rand.Perm(readMembers/100), 0
	user := func() string { return readUser(rand.IntN(readMembers)) }
	reads := map[string]func() string{
		"member":   func() string { return "/v2/levels/" + readGuild + "/users/" + user() },
		"standing": func() string { return "/v2/guilds/" + readGuild + "/members/" + user() },
		"page":     func() string { return fmt.Sprintf("/v2/levels/%s?page=%d%s", readGuild, 1+pages[n%len(pages)], query) },
		"around":   func() string { return "/v2/guilds/" + readGuild + "/members/" + user() + "/around?limit=100" + query },
		"ids": func() string {
			users := make([]string, 100)
			for i, at := 0, rand.IntN(readMembers); i < len(users); i, at = i+1, (at+997)%readMembers { // their XP is random
				users[i] = readUser(at)
			}
			return "/v2/guilds/" + readGuild + "/members?ids=" + strings.Join(users, ",")
		},
	}
	c.ready(reads["standing"]())
	took, order := map[string][]time.Duration{}, slices.Collect(maps.Keys(reads))
	for b.Loop() {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, name := range order {
			address := reads[name]()
			began := time.Now()
			c.do("GET", address, "")
			took[name] = append(took[name], time.Since(began))
		}
		n++
	}
	median := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][n/2].Microseconds())
	}
	for name := range reads {
		b.ReportMetric(median(name), name+"-µs")
	}
	b.ReportMetric(median("standing")/median("member"), "standing/member")
	b.ReportMetric(median("around")/median("page"), "around/page")
	b.ReportMetric(median("ids")/median("page"), "ids/page")
}

func readUser(n int) string { return fmt.Sprintf("2%017d", n) }

// reader sends requests with a key, or as the operator before it has one.
type reader struct {
	b         *testing.B
	base, key string
	client    *http.Client
}

// newReader runs a service with a guild of readMembers members.
func newReader(b *testing.B, periods string) *reader {
	b.Helper()
	cfg, _, err := config.Load(append([]string{
		"LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_ADMIN_TOKEN=" + adminToken,
		"LEVELBOARD_REDIS_URL=" + testenv.Redis(b).URL(), "LEVELBOARD_POSTGRES_URL=" + testenv.Postgres(b),
	}, unlimited...))
	if err != nil {
		b.Fatal(err)
	}
	running := app.New(cfg, app.Options{Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err := running.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	c := &reader{b: b, base: "http://" + running.Addr(), client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	b.Cleanup(func() {
		c.client.CloseIdleConnections()
		if err := running.Stop(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	c.do("PUT", "/admin/guilds/"+readGuild, fmt.Sprintf(`{"name":"Gophers","memberCount":5,"ownerId":"300000000000000001","periods":%s}`, periods))
	made := c.do("POST", "/admin/keys", fmt.Sprintf(`{"name":"bench","ownerId":"300000000000000001","permission":"read_write","guildIds":["%s"]}`, readGuild))
	var minted struct{ Key string }
	if err := json.Unmarshal(made, &minted); err != nil {
		b.Fatal(err)
	}
	c.key = minted.Key
	for first := 0; first < readMembers; first += 1000 {
		members := make([]string, 1000)
		for i := range members {
			members[i] = fmt.Sprintf(`{"userId":"%s","xp":%d,"user":{"avatar":"0123456789abcdef0123456789abcdef","discriminator":"0","username":"member.%d"}}`,
				readUser(first+i), 1+rand.IntN(1_000_000), first+i)
		}
		c.do("PUT", "/v2/guilds/"+readGuild+"/members", `{"mode":"add","members":[`+strings.Join(members, ",")+"]}")
	}
	return c
}

// ready waits until the boards of periods are made, which begins at the first read.
func (c *reader) ready(path string) {
	for {
		resp := c.send("GET", path, "")
		if resp.Body.Close(); resp.StatusCode != http.StatusServiceUnavailable {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// do sends a request that is to succeed, and returns the body of its answer.
func (c *reader) do(method, path, body string) []byte {
	resp := c.send(method, path, body)
	answer, err := io.ReadAll(resp.Body)
	if resp.Body.Close(); err != nil || resp.StatusCode/100 != 2 {
		c.b.Fatalf("%s %s: %d %s, %v", method, path, resp.StatusCode, answer, err)
	}
	return answer
}

func (c *reader) send(method, path, body string) *http.Response {
	r, err := http.NewRequestWithContext(c.b.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.b.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		r.Header.Set("X-Api-Key", c.key)
	} else {
		r.Header.Set("Authorization", "Bearer "+adminToken)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.b.Fatal(err)
	}
	return resp
}
