//go:build linux

package attack

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// hardImports returns the files that are the most expensive to read.
func hardImports() map[string]string {
	var rewards, names strings.Builder
	for n := range 60_000 {
		fmt.Fprintf(&rewards, `{"rank":%d,"role":{"id":"%d","name":"r"}},`, n, 500000000000000000+n)
	}
	long := strings.Repeat("n", 2000)
	for n := range 10_000 {
		fmt.Fprintf(&names, `"%da":0,`, n)
	}
	return map[string]string{
		"role rewards": `{"players":[{"id":"200000000000000001","xp":5,"level":0}],"role_rewards":[` + strings.TrimSuffix(rewards.String(), ",") + `],"page":0}`,
		"long names":   `{"` + long + `":{"` + long + `":{` + names.String(),
		"many members": `[` + strings.TrimSuffix(strings.Repeat(`{"userId":"200000000000000001","xp":5,"level":0},`, 300_000), ",") + `]`,
	}
}

// A manager who uploads such files slows other clients little, and the service stays within its memory.
func TestExpensiveImportsSlowOthersLittle(t *testing.T) {
	provider := testenv.OAuth(t)
	s := start(t, append(append(box, provider.Environ()...), "LEVELBOARD_RATE_LIMIT_IDENTITY=0", "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t))...)
	m := signIn(t, provider, s.address, "300000000000000009", guildID)
	for name, content := range hardImports() {
		address := m.upload(content)
		if err := s.client().soon().served(); err != nil {
			t.Errorf("during an import of %s: %v", name, err)
		}
		testenv.Wait(t, "the files are read", func() bool { return !strings.Contains(m.get(address, ""), `http-equiv="refresh"`) })
		m.does("dismiss", address)
	}
	s.wantInBox()
}

// A stop while an import is read ends in time, and the archive has everything that was acknowledged.
func TestAStopDuringAnImportEndsInTime(t *testing.T) {
	for name, servers := range map[string]bool{"embedded": false, "on servers": true} {
		t.Run(name, func(t *testing.T) {
			provider := testenv.OAuth(t)
			environ := append(provider.Environ(), "LEVELBOARD_DATA_DIR="+t.TempDir())
			archive := ""
			if servers {
				archive = "LEVELBOARD_POSTGRES_URL=" + testenv.Postgres(t)
				environ = append(environ, archive, "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL())
			}
			s := start(t, environ...)
			m := signIn(t, provider, s.address, "300000000000000009", guildID)
			if page := m.get(m.upload(hardImports()["many members"]), ""); !strings.Contains(page, "Comparing the files") {
				t.Errorf("the import is not being read: %s", page)
			}
			s.api().Do("PATCH", "/v2/levels/"+guildID+"/users/"+memberID, s.key, map[string]any{"xp": 12345}).Want(t, 200)
			if code := s.stop(); code != 0 || strings.Contains(s.logged(), "left behind") {
				t.Errorf("the stop's exit code is %d, want 0 with nothing left behind", code)
			}
			if servers { // Redis' data is not needed
				environ = append(environ, "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL())
			}
			again := run(t, environ...)
			got := again.api().Do("GET", "/v2/levels/"+guildID+"/users/"+memberID, s.key, nil).Want(t, 200)
			if xp := apitest.At[float64](t, got, "level", "xp"); xp != 12345 {
				t.Errorf("after the stop the member has %v XP, want 12345", xp)
			}
		})
	}
}

// A manager of many guilds uses a share of the places for uploads and exports, and leaves places for others.
func TestAManagerOfManyGuildsLeavesPlaces(t *testing.T) {
	provider := testenv.OAuth(t)
	s := start(t, append(provider.Environ(), "LEVELBOARD_RATE_LIMIT_IDENTITY=0")...) // the manager reloads the page again and again
	guilds := []string{}
	for n := range 16 {
		g := fmt.Sprint(110000000000000000 + n)
		document := map[string]any{"name": "Gophers", "memberCount": 1, "ownerId": "330000000000000000"}
		s.api().Do("PUT", "/admin/guilds/"+g, "", document, apitest.AdminToken(adminToken)).Want(t, 201)
		guilds = append(guilds, g)
	}
	greedy := signIn(t, provider, s.address, "330000000000000000", guilds...)
	cookies := greedy.cookies()
	attackers(t, 16, func(ctx context.Context, n int) {
		head := "POST /guilds/%s/data/import HTTP/1.1\r\nHost: h\r\nCookie: %s\r\nSec-Fetch-Site: same-origin\r\n" +
			"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"
		sendSlowly(ctx, s.address, net.IPv4(127, 7, 0, 1), fmt.Sprintf(head, guilds[n], cookies))
	})
	attackers(t, 16, func(ctx context.Context, n int) {
		unread(ctx, s.address, net.IPv4(127, 7, 0, 1), fmt.Sprintf("GET /guilds/%s/data/export?format=json HTTP/1.1\r\nHost: h\r\nCookie: %s\r\n\r\n", guilds[n], cookies))
	})
	m := signIn(t, provider, s.address, "300000000000000009", guildID)
	time.Sleep(500 * time.Millisecond)
	exports := s.client().does("GET", "/guilds/"+guildID+"/data", "")
	exports.headers = []string{"Cookie", m.cookies()}
	exports.wantServedSoon()
	for n := range 5 {
		m.imports(fmt.Sprint(200000000000000777 + n))
		m.get(m.page+"/export?format=json", memberID)
	}
}
