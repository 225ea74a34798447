package cli

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/testing/testenv"
)

// idleTime ends a transaction in which a replica was stopped, in the place of the five seconds that would do it.
const idleTime = "idle_in_transaction_session_timeout=500"

// fleet is replicas on the same servers, of which the first made the guild and the key.
type fleet struct {
	t       *testing.T
	archive *testenv.PG
	environ []string
	running []*process
	key     string
}

func startFleet(t *testing.T, size int, interval time.Duration) *fleet {
	t.Helper()
	redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
	f := &fleet{t: t, archive: archive, environ: append(onServers(redis, archive),
		"LEVELBOARD_SNAPSHOT_INTERVAL="+interval.String(), "LEVELBOARD_POSTGRES_URL="+archive.URL()+"&"+idleTime)}
	for range size {
		f.add()
	}
	return f
}

func (f *fleet) add() *process {
	f.t.Helper()
	p := serve(f.t, f.environ...)
	if f.key == "" {
		p.populate()
		f.key = p.key
	}
	p.key = f.key
	f.running = append(f.running, p)
	return p
}

// remove is for a replica that does not run any more.
func (f *fleet) remove(p *process) {
	var left []*process
	for _, other := range f.running {
		if other != p {
			left = append(left, other)
		}
	}
	f.running = left
}

// holder waits until exactly one of those that run says that it holds the lease.
func (f *fleet) holder() *process {
	f.t.Helper()
	var found *process
	f.running[0].until("one replica holds the lease", func() bool {
		held := 0
		for _, p := range f.running {
			if p.metric("levelboard_snapshot_lease_held") == 1 {
				held, found = held+1, p
			}
		}
		return held == 1
	})
	return found
}

// leaseHolder is the name that the archive has for the holder; empty when the lease was given up.
func (f *fleet) leaseHolder() (name string) {
	return archived[string](f, "SELECT coalesce((SELECT holder FROM leases), '')")
}

// archivedXP is what the archive has of the member; -1 for nothing.
func (f *fleet) archivedXP() int {
	return archived[int](f, "SELECT coalesce((SELECT xp FROM members WHERE user_id = '"+testUser+"'), -1)")
}

func archived[T any](f *fleet, query string) (value T) {
	conn, err := pgx.Connect(f.t.Context(), f.archive.URL())
	if err == nil {
		err = conn.QueryRow(f.t.Context(), query).Scan(&value)
		_ = conn.Close(f.t.Context())
	}
	if err != nil {
		f.t.Errorf("read the archive: %v", err)
	}
	return value
}

// setXP changes the member through a replica.
func (f *fleet) setXP(p *process, xp int) {
	f.t.Helper()
	p.want(200, "PATCH", p.member(testUser), fmt.Sprintf(`{"xp":%d}`, xp))
}

// A replica that has to end gives the lease up itself: nobody has to wait until it expires.
func TestAReplicaThatEndsGivesUpTheLease(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 1, 8*time.Second)
	ending := f.running[0]
	ending.until("it takes the lease", func() bool { return f.leaseHolder() != "" })
	before := f.leaseHolder()
	f.add()
	f.setXP(ending, 77)
	ending.signal(syscall.SIGTERM)
	if code := ending.wait(30 * time.Second); code != exitOK {
		t.Errorf("the exit code is %d", code)
	}
	if after := f.leaseHolder(); after == before {
		t.Errorf("the lease is still that of %q", after)
	}
	if xp := f.archivedXP(); xp != 77 {
		t.Errorf("when it has ended the archive has %d XP, want 77", xp)
	}
	f.remove(ending)
	f.holder()
}
