package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/leaderboard"
)

const (
	benchGuild  = "100000000000000001"
	benchMember = "/v2/levels/" + benchGuild + "/users/200000000000000001"
)

// instant answers everything at once, so that what is left is what the handlers themselves take.
type instant struct {
	Board
	key   *apikey.Key
	guild *guild.Guild
	rows  []leaderboard.Ranked
}

func (d *instant) Authenticate(context.Context, string) (*apikey.Key, error) { return d.key, nil }
func (d *instant) InMemory(string) bool                                      { return true }
func (d *instant) Recheck(context.Context, string) (*apikey.Key, error)      { return d.key, nil }

func (d *instant) Peek(context.Context, ratelimit.Budget) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true}, nil
}

func (d *instant) Charge(context.Context, ...ratelimit.Budget) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true, Scope: ratelimit.ScopeKey, Limit: 100000000, Remaining: 99876543, Reset: time.Second}, nil
}

func (d *instant) ByID(context.Context, id.Guild) (*guild.Guild, error)   { return d.guild, nil }
func (d *instant) ByVanity(context.Context, string) (*guild.Guild, error) { return d.guild, nil }

func (d *instant) Member(context.Context, *guild.Guild, id.User) (leaderboard.Ranked, error) {
	return d.rows[0], nil
}

func (d *instant) Page(context.Context, *guild.Guild, int64) (leaderboard.Page, error) {
	return leaderboard.Page{Version: leaderboard.Version{Epoch: 1, Rev: 1}, Rows: d.rows}, nil
}

func (d *instant) Version(context.Context, *guild.Guild) (leaderboard.Version, error) {
	return leaderboard.Version{Epoch: 1, Rev: 1}, nil
}

func (d *instant) Change(context.Context, *guild.Guild, id.User, leaderboard.Change) (leaderboard.Outcome, error) {
	return leaderboard.Outcome{Before: 1000, After: 1005, MessageCount: 70}, nil
}

// sink is a ResponseWriter that keeps nothing but the status.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }

// busiest are the requests that are asked for most.
var busiest = []struct{ name, method, target, body, etag string }{
	{name: "increment", method: http.MethodPatch, target: benchMember, body: `{"xp":{"increment":5}}`},
	{name: "member", method: http.MethodGet, target: benchMember},
	{name: "page", method: http.MethodGet, target: "/v2/levels/" + benchGuild + "?page=1"},
	{name: "not modified", method: http.MethodGet, target: "/v2/levels/" + benchGuild + "?page=1", etag: "*"},
}

// newInstant is the API over stores that answer at once.
func newInstant(b testing.TB) http.Handler {
	avatar := "0123456789abcdef0123456789abcdef"
	deps := &instant{
		key: &apikey.Key{ID: "k", OwnerID: "300000000000000001", Permission: apikey.ReadWrite, GuildIDs: []id.Guild{benchGuild}},
		guild: &guild.Guild{Settings: guild.Settings{
			ID: benchGuild, Name: "Gophers", Enabled: true, Visibility: guild.Private, Curve: benchCurve(b),
		}, Version: 3},
	}
	for i := range 100 {
		deps.rows = append(deps.rows, leaderboard.Ranked{Rank: int64(i + 1), Member: leaderboard.Member{
			UserID: "200000000000000001", XP: 123456, MessageCount: 777, LastUpdated: time.UnixMilli(1),
			User: leaderboard.User{Avatar: &avatar, Discriminator: "0", Username: "somebody"},
		}})
	}
	api, err := New(Deps{Keys: deps, Limiter: deps, Guilds: deps, Board: deps, Log: slog.New(slog.DiscardHandler), CORSOrigins: []string{"*"}, Now: time.Now, Patience: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	return api
}

// BenchmarkRequest is what the handlers of the busiest requests take, without net/http, the limits and the stores.
func BenchmarkRequest(b *testing.B) {
	api := newInstant(b)
	for _, c := range busiest {
		b.Run(c.name, func(b *testing.B) {
			body := strings.NewReader(c.body)
			request := httptest.NewRequest(c.method, c.target, nil)
			request.Header.Set(keyHeader, "lb_key")
			if c.body != "" {
				request.Header.Set("Content-Type", jsonType)
				request.ContentLength = int64(len(c.body))
			}
			if c.etag != "" {
				request.Header.Set("If-None-Match", c.etag)
			}
			b.ReportAllocs()
			for b.Loop() {
				body.Reset(c.body)
				request.Body = io.NopCloser(body)
				w := sink{header: http.Header{}}
				api.ServeHTTP(&w, request)
				if w.status != 200 && w.status != 304 {
					b.Fatalf("status %d", w.status)
				}
			}
		})
	}
}

func benchCurve(b testing.TB) level.Curve {
	b.Helper()
	c, err := level.NewCurve([]float64{150, -100, 50})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
