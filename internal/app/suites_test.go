package app_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
)

// cases are tests that share one running service. Each works in guilds of its own.
type cases map[string]func(t *testing.T, s *service)

// suites are the cases of the API, by what they are about. Those called limitSuite run on a service with narrow limits.
var suites = map[string]cases{
	"access": accessCases, "admin": adminCases, "audit": auditCases, "boards": boardCases, "cards": cardCases, "checkpoints": checkpointCases,
	"concurrency": concurrentCases, "cors": corsCases, "directories": directoryCases, "erasure": erasureCases, "ETags": etagCases,
	"events": eventCases, "gzip": gzipCases, "idempotency": idempotencyCases, "imports": importCases, limitSuite: limitCases,
	"members": memberCases, "messages": messageCases, "messages once": messageOnceCases, "periods": periodCases, "positions": positionCases,
	"presence": presenceCases, "puts": putCases, "rewards": rewardCases, "unlimited": unlimitedCases,
}

const limitSuite = "limits"

// smoke are the cases that run on each setup: between them they reach every kind of endpoint.
var smoke = []string{
	"access/grants take effect at once",
	"admin/what GET gave can be PUT back",
	"admin/deleting removes the members",
	"audit/each change of a guild",
	"boards/by id, or by vanity in any case",
	"boards/changed members show at once",
	"cards/what is on it",
	"checkpoints/restored to the entry",
	"directories/names are kept up to date",
	"erasure/found and erased",
	"ETags/304 by If-None-Match",
	"events/ids resume exactly",
	"idempotency/each method is made once",
	"imports/applied once",
	"limits/an identity over two keys",
	"members/created, then read",
	"members/rank follows XP",
	"messages/levels and roles",
	"messages once/a call of several steps is made once",
	"periods/running boards",
	"periods/closed boards stay",
	"positions/around a member of a period",
	"positions/members by a name",
	"presence/who comes back has everything",
	"puts/each mode, by example",
	"rewards/roles by level",
}

// TestAPI runs every case, on Redis and Postgres.
func TestAPI(t *testing.T) {
	var all []string
	for suite, cases := range suites {
		for name := range cases {
			all = append(all, suite+"/"+name)
		}
	}
	runCases(t, onServers(t), all)
}

// TestSmoke runs some of the cases on the other setups.
func TestSmoke(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { runCases(t, onDataDir(t), smoke) })
	t.Run("on a cluster", func(t *testing.T) { runCases(t, onCluster(t, testenv.Cluster(t, testenv.WithPassword("p@ss"))), smoke) })
}

// runCases runs cases in parallel, each called by its suite and its name. An embedded service is the only one on its directory, so the
// limits of the embedded one that has them are those of another directory.
func runCases(t *testing.T, environ []string, names []string) {
	t.Helper()
	environ = append(environ, often, "LEVELBOARD_FONT_DIR="+fontDir)
	s := startAlive(t, 100*time.Millisecond, environ...)
	limited := start(t, append(elsewhere(t, environ), narrow...)...)
	for _, name := range names {
		suite, inSuite, _ := strings.Cut(name, "/")
		test := suites[suite][inSuite]
		if test == nil {
			t.Errorf("there is no case %q", name)
			continue
		}
		on := s
		if suite == limitSuite {
			on = limited
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, on.in(t))
		})
	}
}

func onDataDir(t *testing.T) []string {
	return []string{dataDir + t.TempDir()}
}

const dataDir = "LEVELBOARD_DATA_DIR="

// elsewhere is the same setup for a second service: a directory is for one process.
func elsewhere(t *testing.T, environ []string) []string {
	if strings.HasPrefix(environ[0], dataDir) {
		return append(onDataDir(t), environ[1:]...)
	}
	return environ
}

func onServers(t *testing.T) []string {
	return []string{"LEVELBOARD_REDIS_URL=" + testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL=" + storetest.PostgresURL(t)}
}

func onCluster(t *testing.T, c *testenv.RedisCluster) []string {
	return []string{"LEVELBOARD_REDIS_MODE=cluster", "LEVELBOARD_REDIS_URL=" + c.URL(), "LEVELBOARD_POSTGRES_URL=" + storetest.PostgresURL(t)}
}
