package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

// trio is three replicas on the same Redis and Postgres.
type trio [3]*service

func startTrio(t *testing.T, environ ...string) trio {
	t.Helper()
	return trio{start(t, environ...), start(t, environ...), start(t, environ...)}
}

// in returns the same replicas for the test t.
func (three trio) in(t *testing.T) trio {
	return trio{three[0].in(t), three[1].in(t), three[2].in(t)}
}

func TestThreeReplicasActAsOne(t *testing.T) {
	t.Parallel()
	ofThree(t, onServers(t))
}

// ofThree runs the cases for three replicas with this environment.
func ofThree(t *testing.T, environ []string) {
	shared := startTrio(t, environ...)
	for name, test := range map[string]func(t *testing.T, three trio){
		"a page is never older than its request":  pagesOfOthersAreFresh,
		"followers of all replicas get level-ups": levelUpsEverywhere,
		"a stream resumes on another replica":     streamsGoOnElsewhere,
		"an open page shows others' changes":      openPageShowsOthers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, shared.in(t))
		})
	}
}

// A change of settings, grants or keys on one replica reaches the others, even if the messages between them get lost.
func TestReplicasAgreeOnSettingsAndKeys(t *testing.T) {
	on := func(t *testing.T, redisURL string) []string {
		return []string{"LEVELBOARD_REDIS_URL=" + redisURL, "LEVELBOARD_POSTGRES_URL=" + postgrestest.URL(t)}
	}
	t.Run("with messages between them", func(t *testing.T) {
		t.Parallel()
		agree(t, on(t, testenv.Redis(t).URL()))
	})
	t.Run("when messages get lost", func(t *testing.T) {
		t.Parallel()
		proxy := testenv.NewProxy(t, testenv.Redis(t).Addr())
		proxy.Mute("message\r\n")
		agree(t, on(t, "redis://"+proxy.Addr()+"/0"))
		if proxy.Muted() == 0 {
			t.Error("the proxy dropped no message, so the test proves nothing")
		}
	})
}

// agree changes settings, grants and keys on one replica, and waits for the other two.
func agree(t *testing.T, environ []string) {
	three := startTrio(t, environ...)
	here, others := three[0], three[1:]
	g, u := newID(), newID()
	var id, key, etag string

	// becomes makes a change on here and waits until the other replicas answer with status, which they must not do before. The replica
	// here must do so at once.
	becomes := func(what string, do func(), status int, ask func(s *service) apitest.Response) {
		t.Helper()
		for _, s := range others {
			if got := ask(s); got.Status == status {
				t.Fatalf("before %s a replica answers %d already", what, status)
			}
		}
		do()
		if got := ask(here); got.Status != status {
			t.Errorf("right after %s the replica that made it answers %d, want %d", what, got.Status, status)
		}
		for i, s := range others {
			testenv.Wait(t, fmt.Sprintf("replica %d answers %d to %s", i+1, status, what), func() bool { return ask(s).Status == status })
		}
	}
	board := func(s *service) apitest.Response { return s.Do("GET", boardPath(g, 1), "", nil) }
	member := func(s *service) apitest.Response { return s.Do("GET", rewardPath(g, 1), key, nil) }

	becomes("a new guild", func() { here.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201) }, 200, board)
	id, key = here.mint(nil)
	for _, s := range others { // no replica can have cached it, so no message is needed
		s.Do("GET", rewardPath(g, 1), key, nil).Want(t, 403)
	}
	becomes("a grant", func() { here.admin("PUT", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204) }, 200, member)
	becomes("a grant taken away", func() { here.admin("DELETE", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204) }, 403, member)
	becomes("a grant again", func() { here.admin("PUT", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204) }, 200, member)
	becomes("private", func() { here.admin("PUT", "/guilds/"+g, settings(object{"visibility": "private"})).Want(t, 200) }, 401, board)
	described := func(s *service) apitest.Response {
		return s.Do("GET", boardPath(g, 1), key, nil, apitest.Header("If-None-Match", etag))
	}
	etag = here.etag(key, g, 1)
	becomes("a description", func() { here.describe(key, g, object{"name": "Renamed"}) }, 200, described)
	becomes("disabled", func() { here.admin("PUT", "/guilds/"+g, settings(object{"enabled": false})).Want(t, 200) }, 404, board)

	vanity, next := "two"+g[10:], newID()
	named := func(s *service) apitest.Response { return s.Do("GET", boardPath(strings.ToUpper(vanity), 1), "", nil) }
	becomes("a vanity", func() { here.admin("PUT", "/guilds/"+g, settings(object{"vanity": vanity})).Want(t, 200) }, 200, named)
	// The name goes to another guild. No replica may find the old guild by it.
	here.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 200)
	here.admin("PUT", "/guilds/"+next, settings(object{"vanity": vanity})).Want(t, 201)
	for i, s := range three {
		testenv.Wait(t, fmt.Sprintf("replica %d finds the guild that has the vanity now", i), func() bool {
			got := named(s)
			return got.Status == 200 && apitest.At[string](t, got, "guild", "id") == next
		})
	}

	// Members are in Redis, so all replicas see a change at once.
	here.create(key, g, u, 5)
	others[0].patch(key, g, u, object{"increment": 1})
	if xp := others[1].board("", g, 1).Levels[0].XP; xp != 6 {
		t.Errorf("after a change on another replica the board shows %d XP, want 6", xp)
	}
	becomes("a revocation", func() { here.admin("DELETE", "/keys/"+id, nil).Want(t, 204) }, 401, member)
	becomes("a deletion", func() { here.admin("DELETE", "/guilds/"+g, nil).Want(t, 204) }, 404, board)

	// A guild created again under the same id is a new guild on every replica.
	here.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	here.create(here.key(g), g, u, 1)
	for i, s := range others {
		testenv.Wait(t, fmt.Sprintf("replica %d knows the new guild", i+1), func() bool {
			got := board(s)
			return got.Status == 200 && apitest.At[float64](t, got, "levels", 0, "xp") == 1
		})
	}
}

// front is a load balancer. It sends each request to the next replica, or to the chosen one.
type front struct {
	*httptest.Server
	replicas atomic.Pointer[trio]
	next     atomic.Int64
	only     atomic.Int64 // 0 takes the replicas in turn, n > 0 only number n
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{}
	pool := &http.Transport{}
	f.Server = httptest.NewServer(&httputil.ReverseProxy{Transport: pool, Rewrite: func(r *httputil.ProxyRequest) {
		replicas, at := f.replicas.Load(), f.only.Load()-1
		if at < 0 {
			at = f.next.Add(1) % int64(len(replicas))
		}
		r.SetURL(&url.URL{Scheme: "http", Host: replicas[at].app.Addr()})
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(func() { f.Close(); pool.CloseIdleConnections() })
	return f
}

// A user who signs in is signed in on all replicas, though each step of the sign-in and each later request goes to another replica.
// Signing out on one replica ends the session on all.
func TestSessionsAreThoseOfAllReplicas(t *testing.T) {
	t.Parallel()
	sessionsOfAll(t, onServers(t))
}

func sessionsOfAll(t *testing.T, environ []string) {
	provider, f := testenv.OAuth(t), newFront(t)
	three := startTrio(t, slices.Concat(environ, provider.Environ(), []string{"LEVELBOARD_PUBLIC_URL=" + f.URL})...)
	f.replicas.Store(&three)
	provider.Register(f.URL + "/sign-in/callback")
	g := three[0].guild(object{"visibility": "private", "name": "Moles"})
	three[0].create(three[0].key(g), g, newID(), 100)
	provider.SetUser(object{"id": newID(), "username": "ada"}, []object{{"id": g, "name": "Moles", "owner": true, "permissions": "0"}})

	browser, board := newBrowser(t), f.URL+"/leaderboard/"+g
	statuses := func(browser *http.Client) (on [3]int) {
		for i := range three {
			f.only.Store(int64(i + 1))
			on[i], _ = visit(t, browser, "GET", board, "")
		}
		f.only.Store(0)
		return on
	}
	if on := statuses(browser); on != [3]int{401, 401, 401} {
		t.Fatalf("before signing in the replicas answer %v, want 401", on)
	}
	if status, text := visit(t, browser, "GET", f.URL+"/sign-in/provider?next="+url.QueryEscape("/leaderboard/"+g), ""); status != 200 || !strings.Contains(text, "gopher") {
		t.Fatalf("after signing in the board is %d %s, want it with its member", status, text)
	}
	if on := statuses(browser); on != [3]int{200, 200, 200} {
		t.Errorf("after signing in the replicas answer %v, want 200", on)
	}
	kept, at := newBrowser(t), (&url.URL{Scheme: "http", Host: f.Listener.Addr().String(), Path: "/"})
	kept.Jar.SetCookies(at, browser.Jar.Cookies(at))
	if on := statuses(kept); on != [3]int{200, 200, 200} {
		t.Errorf("to a copy of the session's cookie the replicas answer %v, want 200", on)
	}
	f.only.Store(3)
	if status, text := visit(t, browser, "POST", f.URL+"/sign-out", ""); status != 200 || strings.Contains(text, "ada") {
		t.Errorf("after signing out the page is %d %s, want it without ada", status, text)
	}
	if on := statuses(kept); on != [3]int{401, 401, 401} {
		t.Errorf("after signing out the replicas answer %v to a copy of the cookie, want 401", on)
	}
}
