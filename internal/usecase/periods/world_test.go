package periods_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/sqlite"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const day = 24 * time.Hour

// world is a guild on a Redis server and an archive. Its clock is the real one, shifted by days.
type world struct {
	*testing.T
	client   *redisconn.Client
	live     *redisstore.Store
	archive  *sqlite.Archive
	hydrator *hydrate.Hydrator
	writer   *snapshot.Writer
	guild    *guild.Guild
	days     int
}

// settings are those of a guild that counts all kinds of periods. Levels do not matter here.
const settings = `{"name":"Gophers","memberCount":5,"ownerId":"100000000000000009","periods":["day","week","month"],
	"seasons":[{"id":"all","name":"All of it","start":"2026-01-01","end":"2027-01-01"}]}`

func newWorld(t *testing.T) *world {
	t.Helper()
	client, err := redisconn.Connect(testenv.Redis(t).URL(), redisconn.ConnectOptions{Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	w := &world{T: t, client: client, live: redisstore.New(client, redisstore.Options{}), archive: sqlitetest.Open(t)}
	log := slog.New(slog.DiscardHandler)
	w.hydrator = hydrate.New(shifted{w.live, w}, w.archive, log)
	t.Cleanup(w.hydrator.Close)
	w.writer = snapshot.NewWriter(w.live, w.archive, w.hydrator, snapshot.WriterOptions{Holder: "w", Interval: time.Hour, Log: log})
	w.configure(settings)
	w.must(w.hydrator.Load(t.Context(), w.ref()))
	w.snapshot()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) configure(document string) {
	w.Helper()
	s, err := guild.Parse("100000000000000001", []byte(document))
	w.must(err)
	w.guild, _, err = w.archive.PutGuild(w.Context(), s)
	w.must(err)
}

func (w *world) ref() leaderboard.GuildRef { return leaderboard.Ref(w.guild) }

// now returns the time in this world.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.days) * day) }

func (w *world) today() period.Day { return period.DayAt(w.now(), time.UTC) }

// around returns days of which Redis' real clock chooses this world's current day.
func (w *world) around() *period.Days {
	if w.days == 0 {
		return w.guild.Calendar().DaysAt(w.now())
	}
	return w.guild.Calendar().DaysAt(w.now().Add(day))
}

func user(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

// gain adds amount to a member's XP.
func (w *world) gain(n int, amount int) {
	w.Helper()
	c := leaderboard.Change{Op: leaderboard.Increment, Amount: level.XP(amount), Days: w.around()}
	if amount < 0 {
		c.Op, c.Amount = leaderboard.Decrement, level.XP(-amount)
	}
	w.retried(func() error {
		_, err := w.live.Change(w.Context(), w.ref(), user(n), c)
		return err
	})
}

// retried loads the guild if it is not loaded, and repeats the step.
func (w *world) retried(step func() error) {
	w.Helper()
	err := step()
	if err != nil {
		w.must(w.hydrator.Load(w.Context(), w.ref()))
		err = step()
	}
	w.must(err)
}

func (w *world) create(n int) {
	w.Helper()
	w.retried(func() error {
		_, err := w.live.Create(w.Context(), w.ref(), user(n), leaderboard.Creation{XP: 1000, Days: w.around()})
		return err
	})
}

func (w *world) delete(n int) {
	w.Helper()
	w.retried(func() error {
		_, err := w.live.Delete(w.Context(), w.ref(), user(n), leaderboard.Removal{Days: w.around()})
		return err
	})
}

// snapshot writes all changes and keeps the lease.
func (w *world) snapshot() {
	w.Helper()
	w.must(w.writer.Flush(w.Context()))
}

// readTwo reads the two members that have waited longest for a snapshot.
func (w *world) readTwo() snapshot.Batch {
	w.Helper()
	page := w.live.ReadChanges(w.Context(), []id.Guild{w.guild.ID}, 2)[0]
	w.must(page.Err)
	return page.Batch
}

// forget empties Redis.
func (w *world) forget() {
	w.Helper()
	w.must(w.client.FlushDB(w.Context()).Err())
}

// shifted is the live store with the world's clock.
type shifted struct {
	*redisstore.Store
	w *world
}

func (s shifted) Moment(ctx context.Context, g id.Guild) (periods.Moment, error) {
	m, err := s.Store.Moment(ctx, g)
	m.At = m.At.Add(time.Duration(s.w.days) * day)
	return m, err
}

func (s shifted) Boards(ctx context.Context, g id.Guild) (string, time.Time, error) {
	boards, at, err := s.Store.Boards(ctx, g)
	return boards, at.Add(time.Duration(s.w.days) * day), err
}

func (w *world) closer(archive periods.Archive) *periods.Closer {
	return periods.NewCloser(shifted{w.live, w}, archive, w.hydrator,
		periods.CloserOptions{Lease: w.writer.Lease, Interval: time.Hour, Log: slog.New(slog.DiscardHandler), Now: w.now})
}

// standing has the parts of a standing that tests compare.
type standing struct {
	user   id.User
	gained int64
}

// closed reads a closed period's standings.
func (w *world) closed(p period.Period) (periods.Closed, []standing) {
	w.Helper()
	c, err := w.archive.Closed(w.Context(), w.ref(), p.ID)
	w.must(err)
	rows, err := w.archive.Standings(w.Context(), w.ref(), p.ID, 0, 100)
	w.must(err)
	var found []standing
	for i, r := range rows {
		if r.Rank != int64(i)+1 {
			w.Errorf("row %d of %s has rank %d, want %d", i, p.ID, r.Rank, i+1)
		}
		found = append(found, standing{r.UserID, r.Gained})
	}
	return c, found
}

// running reads a running period's standings, and loads the guild if needed.
func (w *world) running(p period.Period) []standing {
	w.Helper()
	var s leaderboard.Standings
	read := func() (err error) {
		s, err = w.live.Standings(w.Context(), w.ref(), p, 0, 100)
		if errors.Is(err, leaderboard.ErrNoBoard) {
			w.snapshot() // or the guild stays frozen
			if err = w.hydrator.LoadBoards(w.Context(), w.ref()); err == nil {
				s, err = w.live.Standings(w.Context(), w.ref(), p, 0, 100)
			}
		}
		return err
	}
	w.retried(read)
	var found []standing
	sum := int64(0)
	for _, r := range s.Rows {
		found = append(found, standing{r.UserID, r.Gained})
		sum += r.Gained
	}
	if s.Members != int64(len(found)) || s.Gained != sum {
		w.Errorf("%s has %d members with %d XP, but the rows %v", p.ID, s.Members, s.Gained, found)
	}
	return found
}

// announced reads the events of closed periods.
func (w *world) announced() (found []string) {
	w.Helper()
	logs, err := w.live.ReadEvents(w.Context(), []events.Cursor{{Guild: w.ref()}}, 1000)
	w.must(err)
	for _, e := range logs[0] {
		if e.Period != "" {
			found = append(found, e.Period)
		}
	}
	return found
}
