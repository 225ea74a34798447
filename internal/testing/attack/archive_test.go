//go:build linux

package attack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// large returns a service whose guild has this many thousand archived members. Each member's name has a word for each of three letters.
func large(t *testing.T, thousands int, environ ...string) (s *target, postgres string) {
	postgres = testenv.Postgres(t)
	s = start(t, append(environ, "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL="+postgres,
		"LEVELBOARD_SNAPSHOT_INTERVAL=1s", "LEVELBOARD_REDIS_TIMEOUT=5s")...)
	for call := range thousands {
		var members []map[string]any
		for i := range 1000 {
			n := 1000*call + i
			user := map[string]any{"avatar": nil, "discriminator": "0", "username": fmt.Sprintf("a%d b%d c%d", n, n, n)}
			members = append(members, map[string]any{"userId": fmt.Sprint(600000000000000000 + n), "xp": n, "user": user})
		}
		s.api().Do("PUT", "/v2/guilds/"+guildID+"/members", s.key, map[string]any{"mode": "set", "members": members}).Want(t, 200)
	}
	testenv.Wait(t, "the archive has the members", func() bool {
		return thousands == 0 || s.metric("levelboard_snapshot_members_total") >= float64(1000*thousands)
	})
	return s, postgres
}

// searching returns an ordinary client that searches members by name, which uses the archive.
func (s *target) searching() *ordinary {
	return s.client().does("GET", "/v2/guilds/"+guildID+"/members?search=nnn", "")
}

// get requests a page again and again from an address until the test ends.
func (s *target) get(ctx context.Context, from net.IP, path, cookies string) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: testenv.Patience}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		answer, err := testenv.Send(ctx, client, "GET", "http://"+s.address+path, "", "Cookie", cookies)
		if err != nil || answer.Status == http.StatusTooManyRequests {
			return
		}
	}
}

// A signed-in user reads the profile as often as the limits allow, and the archive still answers others.
func TestManyReadsOfAProfileDelayNobody(t *testing.T) {
	provider := testenv.OAuth(t)
	s, postgres := large(t, 0, provider.Environ()...)
	conn, err := pgx.Connect(t.Context(), postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, fill := range []string{
		`INSERT INTO requests (incarnation, name, request, made_ms, outcome, users)
			SELECT 1, decode(lpad(to_hex(i), 32, '0'), 'hex'), '\x00', extract(epoch FROM now()) * 1000, '', (200000000000000000 + i)::text
			FROM generate_series(1, 400000) i`,
		`INSERT INTO audit (log, at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, reason, request_id)
			SELECT 1, extract(epoch FROM now()) * 1000, i, 'operator', '', '', 'xp', (200000000000000000 + i)::text, '', '', 'a reason', ''
			FROM generate_series(1, 400000) i`,
		`ANALYZE`,
	} {
		if _, err := conn.Exec(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
	}
	stranger := signIn(t, provider, s.address, "320000000000000000")
	cookies := stranger.cookies()
	attackers(t, 32, func(ctx context.Context, _ int) { s.get(ctx, net.IPv4(127, 6, 0, 1), "/profile", cookies) })
	time.Sleep(500 * time.Millisecond)
	s.searching().wantServedSoon()
}

// An address searches a large board by single letters, again and again. That blocks neither other searches nor the revocation of keys, even
// while the board is restored.
func TestSearchesAndRestoresOfALargeBoardDelayNobody(t *testing.T) {
	s, _ := large(t, 60)
	t.Run("searches by single letters", func(t *testing.T) {
		s.t = t
		attackers(t, 32, func(ctx context.Context, n int) {
			s.get(ctx, net.IPv4(127, 6, 0, 2), fmt.Sprintf("/leaderboard/%s/search?q=a+b+c+%c", guildID, 'd'+n%20), "")
		})
		time.Sleep(500 * time.Millisecond)
		s.searching().wantServedSoon()
	})
	t.Run("restores", func(t *testing.T) {
		s.t = t
		checkpoints := "/admin/guilds/" + guildID + "/checkpoints"
		made := s.api().Do("POST", checkpoints, "", map[string]any{"name": "before"}, apitest.AdminToken(adminToken)).Want(t, 201)
		restore := checkpoints + "/" + apitest.At[string](t, made, "id") + "/restore"
		attackers(t, 1, func(ctx context.Context, _ int) {
			_, _ = testenv.Send(ctx, oneCall(testenv.Patience), "POST", "http://"+s.address+restore, "", "Authorization", "Bearer "+adminToken)
		})
		operator := s.client().does("POST", "/admin/keys", `{"name":"k","ownerId":"300000000000000008","permission":"read","guildIds":[]}`)
		operator.headers = []string{"Authorization", "Bearer " + adminToken}
		operator.wantServedSoon()
	})
}
