package app_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

// cases are tests that share a running service. Each uses its own guilds.
type cases map[string]func(t *testing.T, s *service)

// suites are the cases of the API by subject. Those of limitSuite run on a service with narrow limits.
var suites = map[string]cases{
	"access": accessCases, "admin": adminCases, "audit": auditCases, "boards": boardCases, "cards": cardCases, "checkpoints": checkpointCases,
	"cors": corsCases, "directories": directoryCases, "erasure": erasureCases, "ETags": etagCases,
	"events": eventCases, "gzip": gzipCases, "idempotency": idempotencyCases, "imports": importCases, limitSuite: limitCases,
	"members": memberCases, "messages": messageCases, "periods": periodCases, "positions": positionCases,
	"presence": presenceCases, "hidden": hiddenCases, "puts": putCases, "rewards": rewardCases, "unlimited": unlimitedCases,
}

const limitSuite = "limits"

// smoke lists the cases that run on every setup. Together they cover each kind of endpoint.
var smoke = []string{
	"access/grants take effect at once",
	"admin/what GET gave can be PUT back",
	"admin/deleting removes the members",
	"audit/each change of a guild is recorded",
	"boards/found by id, or by vanity in any case",
	"boards/changed members show at once",
	"cards/a card shows name, level and rank",
	"checkpoints/a restore brings back each entry",
	"directories/names are kept up to date",
	"erasure/a user is found and erased",
	"ETags/If-None-Match gets a 304",
	"events/ids resume exactly",
	"idempotency/each method repeated is made once",
	"imports/an import is applied once",
	"limits/two keys of an owner share a limit",
	"members/a created member can be read",
	"messages/a message's level and roles",
	"idempotency/a large call repeated is made once",
	"periods/running boards have ranks and gains",
	"periods/closed boards stay",
	"positions/the rows around a member of a period",
	"positions/members are found by name",
	"presence/a member who returns has everything",
	"puts/each mode, by example",
	"rewards/a level's roles",
}

// TestAPI runs every case on Redis and Postgres.
func TestAPI(t *testing.T) {
	var all []string
	for suite, cases := range suites {
		for name := range cases {
			all = append(all, suite+"/"+name)
		}
	}
	runCases(t, onServers(t), all)
}

// TestSmoke runs the smoke cases on the other setups.
func TestSmoke(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { runCases(t, onDataDir(t), smoke) })
	t.Run("on a cluster", func(t *testing.T) { runCases(t, onCluster(t, testenv.Cluster(t, testenv.WithPassword("p@ss"))), smoke) })
}

// runCases runs cases in parallel, each named by its suite and name. The service with narrow limits stops before the other starts:
// two would contend for the lease, and only its holder can seed members.
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

// runs runs one case as a subtest with the name as.
func (s *service) runs(t *testing.T, suite, name, as string) {
	t.Helper()
	test := suites[suite][name]
	if test == nil {
		t.Errorf("suite %s has no case %q", suite, name)
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
