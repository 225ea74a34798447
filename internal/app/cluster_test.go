package app_test

import (
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// The master that carries the pub/sub messages between replicas hangs. A change of settings is still answered and reaches the other
// replica.
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

// The master with the index of changed guilds is lost for good, and so is its replica. Changes of guilds on the other masters are
// still archived.
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
	// The service needs it to write its last snapshot.
	index.Start()
	testenv.Wait(t, "the index is back", func() bool {
		_, err := index.Ask("SREM", "lb:changed-guilds", "none")
		return err == nil
	})
	s.stop(t)
}

// archivedOn waits until the archive has every answered change of the guild.
func archivedOn(t *testing.T, c *testenv.RedisCluster, g string) {
	t.Helper()
	meta := "lb:{" + g + "}:meta"
	slot := c.SlotOf(meta)
	testenv.Wait(t, "the snapshot is written", func() bool {
		fields, err := c.Owner(slot).Ask("HMGET", meta, "rev", "archived")
		rev, archived, _ := strings.Cut(fields, "\n")
		return err == nil && rev != "" && rev == archived
	})
}
