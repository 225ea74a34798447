package app_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

// cases are tests that share one running service. Each works in guilds of its own.
type cases map[string]func(t *testing.T, s *service)

// suites are the cases of the API, by what they are about. Those called limitSuite run on a service with narrow limits.
var suites = map[string]cases{
	"access": accessCases, "admin": adminCases, "audit": auditCases, "boards": boardCases, "cards": cardCases, "checkpoints": checkpointCases,
	"cors": corsCases, "directories": directoryCases, "erasure": erasureCases, "ETags": etagCases,
	"events": eventCases, "gzip": gzipCases, "idempotency": idempotencyCases, "imports": importCases, limitSuite: limitCases,
	"members": memberCases, "messages": messageCases, "periods": periodCases, "positions": positionCases,
	"presence": presenceCases, "hidden": hiddenCases, "puts": putCases, "rewards": rewardCases, "unlimited": unlimitedCases,
}

const limitSuite = "limits"

// smoke are the cases that run on each setup. Together they cover every kind of endpoint.
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
	"messages/levels and roles",
	"idempotency/a call of several steps is made once",
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

// runCases runs cases in parallel, each called by its suite and its name. The service with narrow limits has stopped when the other one starts:
// two would contend for the lease, which only its holder can seed members with.
func runCases(t *testing.T, environ []string, names []string) {
	t.Helper()
	environ = append(environ, often, "LEVELBOARD_FONT_DIR="+fontDir)
	t.Run(limitSuite, func(t *testing.T) {
		s := start(t, append(environ, narrow...)...)
		for _, name := range names {
			if suite, name, _ := strings.Cut(name, "/"); suite == limitSuite {
				s.runs(t, suite, name, name)
			}
		}
	})
	s := startAlive(t, 100*time.Millisecond, environ...)
	for _, full := range names {
		if suite, name, _ := strings.Cut(full, "/"); suite != limitSuite {
			s.runs(t, suite, name, full)
		}
	}
}

// runs runs one case, called by the name as.
func (s *service) runs(t *testing.T, suite, name, as string) {
	t.Helper()
	test := suites[suite][name]
	if test == nil {
		t.Errorf("there is no case %q of %s", name, suite)
		return
	}
	t.Run(as, func(t *testing.T) {
		t.Parallel()
		test(t, s.in(t))
	})
}

func onDataDir(t *testing.T) []string {
	return []string{"LEVELBOARD_DATA_DIR=" + t.TempDir()}
}

func onServers(t *testing.T) []string {
	return []string{"LEVELBOARD_REDIS_URL=" + testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL=" + postgrestest.URL(t)}
}

func onCluster(t *testing.T, c *testenv.RedisCluster) []string {
	return []string{"LEVELBOARD_REDIS_MODE=cluster", "LEVELBOARD_REDIS_URL=" + c.URL(), "LEVELBOARD_POSTGRES_URL=" + postgrestest.URL(t)}
}
