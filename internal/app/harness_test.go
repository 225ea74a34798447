package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/config"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// adminToken is the admin token of tests that set no other.
const adminToken = "an-operators-token-of-enough-length"

// unlimited switches the rate limits off, for tests of anything else.
var unlimited = []string{"LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=0"}

// service is a running service, used by one test.
type service struct {
	t     *testing.T
	app   *app.App
	token string // of /admin
	*apitest.Client
	plain *http.Client // skips the check against openapi.json, which takes time
}

// soon sets the default timeout of Redis. Other tests use a longer one, because a busy machine may pause for longer than the default.
const soon = "LEVELBOARD_REDIS_TIMEOUT=500ms"

// newApp builds a service that listens on free ports. Settings in environ override the harness's.
func newApp(t *testing.T, environ ...string) *app.App {
	t.Helper()
	return newLogging(t, slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}), environ...)
}

// newLogging is newApp with a log of its own.
func newLogging(t *testing.T, log slog.Handler, environ ...string) *app.App {
	t.Helper()
	return newWith(t, app.Options{Logger: slog.New(log), Version: "test"}, environ...)
}

func newWith(t *testing.T, options app.Options, environ ...string) *app.App {
	t.Helper()
	built, warnings := build(t, options, environ...)
	for _, w := range warnings {
		t.Error(w)
	}
	return built
}

// build is newApp for settings that cause warnings.
func build(t *testing.T, options app.Options, environ ...string) (_ *app.App, warnings []string) {
	t.Helper()
	base := append([]string{
		"LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_ADMIN_TOKEN=" + adminToken,
		"LEVELBOARD_REDIS_TIMEOUT=5s",
	}, unlimited...)
	cfg, warnings, err := config.Load(append(base, environ...))
	if err != nil {
		t.Fatal(err)
	}
	return app.New(cfg, options), warnings
}

// start runs a service until the test ends or calls stop.
func start(t *testing.T, environ ...string) *service {
	t.Helper()
	return run(t, newApp(t, environ...))
}

// startSilent is start without a log, for a service whose requests fail all the time.
func startSilent(t *testing.T, environ ...string) *service {
	t.Helper()
	return run(t, newLogging(t, slog.DiscardHandler, environ...))
}

func run(t *testing.T, running *app.App) *service {
	t.Helper()
	if err := running.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := (&service{app: running, token: running.AdminToken()}).in(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// in returns the same service for the test t.
func (s *service) in(t *testing.T) *service {
	pool := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(pool.CloseIdleConnections)
	return &service{
		t: t, app: s.app, token: s.token,
		Client: apitest.NewClient(t, "http://"+s.app.Addr()),
		plain:  &http.Client{Transport: pool, Timeout: 30 * time.Second},
	}
}

// stop ends the service as SIGTERM does. It may be called more than once.
func (s *service) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	if err := s.app.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// admin sends a request to /admin with the admin token.
func (s *service) admin(method, path string, body any, options ...apitest.Option) apitest.Response {
	s.t.Helper()
	return s.Do(method, "/admin"+path, "", body, append([]apitest.Option{apitest.AdminToken(s.token)}, options...)...)
}

// bad sends a request that violates openapi.json on purpose.
func (s *service) bad(method, path, key string, body any, options ...apitest.Option) apitest.Response {
	s.t.Helper()
	return s.Do(method, path, key, body, append([]apitest.Option{apitest.Bad()}, options...)...)
}

// quick sends a request without checking it against openapi.json. It may be called from any goroutine.
func (s *service) quick(method, path, key, body string, options ...apitest.Option) (apitest.Response, error) {
	r, err := http.NewRequest(method, "http://"+s.app.Addr()+path, strings.NewReader(body))
	if err != nil {
		return apitest.Response{}, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	for _, option := range options {
		option(r)
	}
	answer, err := testenv.Exchange(s.plain, r)
	return apitest.Response(answer), err
}

// later is quick in the background.
func (s *service) later(method, path, key, body string) <-chan apitest.Response {
	answer := make(chan apitest.Response, 1)
	go func() {
		got, err := s.quick(method, path, key, body)
		if err != nil {
			s.t.Error(err)
		}
		answer <- got
	}()
	return answer
}

// object is a JSON object.
type object = map[string]any

var lastID atomic.Int64

// newID returns a snowflake that no other test uses.
func newID() string { return fmt.Sprintf("%018d", 100000000000000000+lastID.Add(1)) }

// owner is the owner of guilds whose test names no other.
const owner = "900000000000000001"

// settings returns a guild's required settings, overridden by over.
func settings(over object) object {
	s := object{"name": "Gophers", "memberCount": 5000, "ownerId": owner}
	for name, value := range over {
		s[name] = value
	}
	return s
}

// guild creates a guild and returns its id.
func (s *service) guild(over object) string {
	s.t.Helper()
	g := newID()
	s.admin("PUT", "/guilds/"+g, settings(over)).Want(s.t, 201)
	return g
}

// mint creates a key with the properties in request over defaults, and returns its id and its secret.
func (s *service) mint(request object) (id, secret string) {
	s.t.Helper()
	body := object{"name": "bot", "ownerId": newID(), "permission": "read_write", "guildIds": []string{}}
	for name, value := range request {
		body[name] = value
	}
	made := s.admin("POST", "/keys", body).Want(s.t, 201)
	return apitest.At[string](s.t, made, "id"), apitest.At[string](s.t, made, "key")
}

// some returns the list, or an empty one for nil, so that JSON has [] and not null.
func some(guilds []string) []string { return append([]string{}, guilds...) }

// key creates a read/write key with these grants.
func (s *service) key(guilds ...string) string {
	s.t.Helper()
	_, secret := s.mint(object{"guildIds": some(guilds)})
	return secret
}

// reader creates a read-only key with these grants.
func (s *service) reader(guilds ...string) string {
	s.t.Helper()
	_, secret := s.mint(object{"guildIds": some(guilds), "permission": "read"})
	return secret
}

func memberPath(g, u string) string { return "/v2/levels/" + g + "/users/" + u }

func boardPath(entry string, page int) string {
	return fmt.Sprintf("/v2/levels/%s?page=%d", entry, page)
}

// gopher is the user data of members whose test names no other.
var gopher = object{"avatar": nil, "discriminator": "0", "username": "gopher"}

// create creates a member.
func (s *service) create(key, g, u string, xp int) apitest.Response {
	s.t.Helper()
	return s.Do("POST", memberPath(g, u), key, object{"xp": xp, "user": gopher}).Want(s.t, 200)
}

// patch changes a member's XP.
func (s *service) patch(key, g, u string, xp any) apitest.Response {
	s.t.Helper()
	return s.Do("PATCH", memberPath(g, u), key, object{"xp": xp}).Want(s.t, 200)
}

// member is the answer to GET on a member.
type member struct {
	Level struct {
		LastUpdated  *string
		Level        int
		MessageCount int
		Rank         int
		XP           int
	}
	User object
}

func (s *service) member(key, g, u string) member {
	s.t.Helper()
	return apitest.JSON[member](s.t, s.Do("GET", memberPath(g, u), key, nil).Want(s.t, 200))
}

// board is a page of a leaderboard.
type board struct {
	Guild     object
	IsManager bool
	Levels    []struct {
		Level, MessageCount, NextLevelXP, Rank, XP int
		Progress                                   float64
		User                                       object
		UserID                                     string
	}
	Multipliers, RoleRewards []object
	Vanity                   *string
}

func (s *service) board(key, entry string, page int) board {
	s.t.Helper()
	return apitest.JSON[board](s.t, s.Do("GET", boardPath(entry, page), key, nil).Want(s.t, 200))
}

// order returns the users of a page, best first.
func (b board) order() []string {
	users := make([]string, len(b.Levels))
	for i, entry := range b.Levels {
		users[i] = entry.UserID
	}
	return users
}
