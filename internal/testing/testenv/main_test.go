//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import (
	"fmt"
	"os"
	"testing"
)

// orphanVariable makes the test binary play a victim: it starts servers, one of
// them idle, prints where they are, and waits to be killed.
const orphanVariable = "TESTENV_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphanVariable) != "" {
		os.Exit(m.Run())
	}
	Main(m)
}

func TestVictim(t *testing.T) {
	if os.Getenv(orphanVariable) == "" {
		t.Skip("runs only in the process that TestServersDieWithAKilledTestBinary kills")
	}
	redis, idle := Redis(t), new(RedisServer)
	t.Run("a test", func(t *testing.T) { *idle = *Redis(t) })
	postgres := PostgresServer(t)
	redis.Pause()
	postgres.Pause()
	fmt.Printf("victim %d %s %d %s %d %s\n", redis.running.pid, redis.Dir(), postgres.running.pid, postgres.dir, idle.running.pid, idle.Dir())
	select {}
}
