package app_test

import (
	"os"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// onLockedCluster is a cluster with all its locks on: TLS of an authority of its own, client certificates, and a user with the
// rights that docs/security.md gives. Changes wait for a replica.
func onLockedCluster(t *testing.T, archiveURL string) (c *testenv.RedisCluster, environ []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- acl: tested on a real server -->\n```\n")
	user, _, found := strings.Cut(rest, "\n```")
	if !found {
		t.Fatal("docs/security.md has no user for Redis")
	}
	ca := testenv.NewCA(t)
	c = testenv.Cluster(t, testenv.WithTLS(ca, ca.Loopback()), testenv.WithClientCertificates(), testenv.WithPassword(serversPassword),
		testenv.WithConfig(user+" +cluster|slots +asking +wait", "cluster-require-full-coverage no"))
	client := ca.Issue("levelboard")
	return c, []string{
		"LEVELBOARD_REDIS_MODE=cluster", "LEVELBOARD_POSTGRES_URL=" + archiveURL,
		// Each connection costs a handshake, and a busy machine has no time for hundreds at once.
		"LEVELBOARD_REDIS_URL=" + c.URLFor("levelboard", "PASSWORD") + "?pool_size=4",
		"LEVELBOARD_REDIS_CA_FILE=" + ca.File(), "LEVELBOARD_REDIS_CERT_FILE=" + client.CertFile, "LEVELBOARD_REDIS_KEY_FILE=" + client.KeyFile,
		"LEVELBOARD_REDIS_WAIT_REPLICAS=1", "LEVELBOARD_REDIS_WAIT_TIMEOUT=400ms",
	}
}

// Whatever three replicas agree on with one Redis they agree on with a cluster, with all its locks on.
func TestThreeReplicasOnALockedCluster(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	archiveURL := testenv.Postgres(t)
	c, environ := onLockedCluster(t, archiveURL)
	t.Run("data", func(t *testing.T) { ofThree(t, environ) })
	t.Run("sessions", func(t *testing.T) { sessionsOfAll(t, environ) })
	t.Run("settings and keys", func(t *testing.T) { agree(t, environ, func() {}) })
	for _, node := range append(c.Masters, c.Replicas...) {
		if refused, err := node.Ask("ACL", "LOG"); err != nil || strings.Contains(refused, "command") {
			t.Errorf("refused: %s, %v", refused, err)
		}
	}
	t.Run("settings and keys when no message may be sent", func(t *testing.T) {
		var cut []func()
		for _, node := range append(c.Masters, c.Replicas...) {
			cut = append(cut, noMessages(t, node))
			if _, err := node.Ask("ACL", "SETUSER", "levelboard", "resetchannels"); err != nil {
				t.Fatal(err)
			}
		}
		agree(t, environ, func() {
			for _, cutOne := range cut {
				cutOne()
			}
		})
	})
}

// The start reports what is wrong with how a cluster is reached.
func TestAClusterThatRefuses(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	archiveURL := testenv.Postgres(t)
	c, environ := onLockedCluster(t, archiveURL)
	stranger := testenv.NewCA(t)
	single := testenv.Redis(t)
	plain := func(setting string) []string {
		return []string{setting, "LEVELBOARD_REDIS_CA_FILE=", "LEVELBOARD_REDIS_CERT_FILE=", "LEVELBOARD_REDIS_KEY_FILE="}
	}
	for _, wrong := range []struct {
		name    string
		setting []string
		want    string
	}{
		{"password", []string{"LEVELBOARD_REDIS_URL=" + c.URLFor("levelboard", "an-0ther-Secret")}, "the user or the password of LEVELBOARD_REDIS_URL"},
		{"authority", []string{"LEVELBOARD_REDIS_CA_FILE=" + stranger.File()}, "set LEVELBOARD_REDIS_CA_FILE"},
		{"no client certificate", []string{"LEVELBOARD_REDIS_CERT_FILE=", "LEVELBOARD_REDIS_KEY_FILE="}, "set LEVELBOARD_REDIS_CERT_FILE"},
		{"no cluster", plain("LEVELBOARD_REDIS_URL=" + single.URL()), "set LEVELBOARD_REDIS_MODE=single"},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			err := startRefused(t, append(environ, wrong.setting...)...)
			if !strings.Contains(err.Error(), wrong.want) {
				t.Errorf("%v, want %q", err, wrong.want)
			}
			if strings.Contains(err.Error(), serversPassword) || strings.Contains(err.Error(), "an-0ther-Secret") {
				t.Error("the error holds a secret")
			}
		})
	}
}

// The master that carries the messages between replicas hangs. A change of settings is answered all the same, and is in force on
// the other replica.
func TestTheNodeOfTheMessagesHangs(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	c := testenv.Cluster(t, testenv.WithConfig("cluster-require-full-coverage no"))
	environ := onCluster(t, c)
	here, there := startSilent(t, environ...), startSilent(t, environ...)
	g := here.guild(nil)
	public := func() int { return there.Do("GET", boardPath(g, 1), "", nil).Status }
	for c.Owner(c.SlotOf("{"+g+"}")) == c.Owner(c.SlotOf("lb:changes")) {
		g = here.guild(nil)
	}
	testenv.Wait(t, "the board is public", func() bool { return public() == 200 })
	node := c.Owner(c.SlotOf("lb:changes"))
	node.Pause()
	here.admin("PUT", "/guilds/"+g, settings(object{"visibility": "private"})).Want(t, 200)
	testenv.Wait(t, "the board is private", func() bool { return public() == 401 })
	node.Resume()
}

// The master that holds the index of changed guilds is away for good, and so is its replica. What changes in guilds of the others is
// archived all the same.
func TestGuildsAreArchivedWithoutTheIndex(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	c := testenv.Cluster(t, testenv.WithConfig("cluster-require-full-coverage no"))
	s := startSilent(t, append(onCluster(t, c), often)...)
	index := c.Owner(c.SlotOf("lb:changed-guilds"))
	g := s.guild(nil)
	for c.Owner(c.SlotOf("{"+g+"}")) == index {
		g = s.guild(nil)
	}
	key, u := s.key(g), newID()
	s.create(key, g, u, 1)
	archivedOn(t, c, g)
	c.ReplicaOf(index).Kill()
	index.Kill()
	for range 3 {
		testenv.Wait(t, "a change is made", func() bool {
			got, err := s.quick("PATCH", memberPath(g, u), key, `{"xp":{"increment":1}}`)
			return err == nil && got.Status == 200
		})
		archivedOn(t, c, g)
	}
	// Or the service could not write its last snapshot.
	index.Start()
	testenv.Wait(t, "the index is back", func() bool {
		_, err := index.Ask("SREM", "lb:changed-guilds", "none")
		return err == nil
	})
	s.stop(t)
}
