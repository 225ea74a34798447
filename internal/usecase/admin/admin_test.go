package admin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	changelog "levelboard/internal/platform/changes"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/admin"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	guild1 id.Guild = "100000000000000001"
	guild2 id.Guild = "100000000000000002"
	owner  id.User  = "200000000000000001"
)

var (
	errBroken = errors.New("broken on demand")
	noon      = time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.FixedZone("", 3600))
)

// world is the use cases on a real archive and a real live store; the announcer only counts.
type world struct {
	*testing.T
	*admin.Admin
	archive   *storetest.FaultyArchive
	store     *redisstore.Store
	live      *live
	announced int
}

// Announce counts the announcements of changes.
func (w *world) Announce(context.Context, changelog.Kind, string) { w.announced++ }

// live is a live store that can fail.
type live struct {
	*redisstore.Store
	err error
}

func (l *live) Drop(ctx context.Context, g leaderboard.GuildRef) error {
	if l.err != nil {
		return l.err
	}
	return l.Store.Drop(ctx, g)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	client, err := redisconn.Connect(server.URL(), redisconn.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	archive := storetest.SQLite(t)
	w := &world{T: t, archive: storetest.NewFaultyArchive(archive), store: redisstore.New(client)}
	w.live = &live{Store: w.store}
	w.Admin = admin.New(w.archive, w.live, w, slog.New(slog.DiscardHandler), func() time.Time { return noon })
	return w
}

func settings(t *testing.T, g id.Guild, more string) guild.Settings {
	t.Helper()
	s, err := guild.Parse(g, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"`+string(owner)+`"`+more+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do runs one use case and returns its error; the test knows what a change announces.
func (w *world) do(name string) error {
	ctx := w.Context()
	switch name {
	case "put a guild":
		_, _, err := w.PutGuild(ctx, settings(w.T, guild2, ""))
		return err
	case "delete a guild":
		return w.DeleteGuild(ctx, guild1)
	case "create a key":
		_, _, err := w.CreateKey(ctx, apikey.NewKey{Name: "bot", OwnerID: owner, Permission: apikey.ReadWrite})
		return err
	case "grant":
		return w.Grant(ctx, w.key(), guild1)
	case "ungrant":
		return w.Ungrant(ctx, w.key(), guild1)
	case "revoke":
		return w.Revoke(ctx, w.key())
	}
	w.Fatalf("no use case %q", name)
	return nil
}

// key returns the id of the first key.
func (w *world) key() string {
	w.Helper()
	keys, err := w.archive.ArchiveStore.Keys(w.Context(), "", 1)
	if err != nil || len(keys) == 0 {
		w.Fatalf("no key: %v", err)
	}
	return keys[0].ID
}

// changes are the use cases that change something, and the archive's method behind each.
var changes = map[string]string{
	"put a guild": "PutGuild", "delete a guild": "DeleteGuild", "create a key": "CreateKey",
	"grant": "Grant", "ungrant": "Ungrant", "revoke": "RevokeKey",
}

func (w *world) prepare() {
	w.Helper()
	if _, _, err := w.PutGuild(w.Context(), settings(w.T, guild1, "")); err != nil {
		w.Fatal(err)
	}
	if err := w.do("create a key"); err != nil {
		w.Fatal(err)
	}
	w.announced = 0
}

func TestEveryChangeIsAnnouncedOnceItIsCommitted(t *testing.T) {
	for name, method := range changes {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.prepare()
			w.archive.Fail(method, errBroken)
			err := w.do(name)
			f := fault.From(err)
			if f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(err, errBroken) || strings.Contains(f.Message, "broken") {
				t.Errorf("with a broken archive: %v", err)
			}
			if w.announced != 0 {
				t.Error("a change that failed was announced")
			}
			w.archive.Fail(method, nil)
			if err := w.do(name); err != nil {
				t.Fatal(err)
			}
			if w.announced != 1 {
				t.Errorf("announced %d times", w.announced)
			}
		})
	}
}

func TestReadsAnnounceNothing(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.prepare()
	g, err := w.Guild(ctx, guild1)
	if err != nil || g.ID != guild1 || g.Incarnation == 0 {
		t.Errorf("guild %+v, %v", g, err)
	}
	if all, err := w.Guilds(ctx, "", 10); err != nil || len(all) != 1 || all[0].ID != guild1 {
		t.Errorf("guilds %+v, %v", all, err)
	}
	if all, err := w.Guilds(ctx, guild1, 10); err != nil || len(all) != 0 {
		t.Errorf("guilds after the last: %+v, %v", all, err)
	}
	if all, err := w.Keys(ctx, "", 10); err != nil || len(all) != 1 {
		t.Errorf("keys %+v, %v", all, err)
	}
	w.archive.Fail(storetest.AllMethods, errBroken)
	_, guildErr := w.Guild(ctx, guild1)
	_, guildsErr := w.Guilds(ctx, "", 10)
	_, keysErr := w.Keys(ctx, "", 10)
	for _, err := range []error{guildErr, guildsErr, keysErr} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("with a broken archive: %v", err)
		}
	}
	if w.announced != 0 {
		t.Errorf("announced %d times", w.announced)
	}
}

func TestRefusalsAreFaults(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.prepare()
	if _, _, err := w.PutGuild(ctx, settings(t, guild1, `,"vanity":"gophers"`)); err != nil {
		t.Fatal(err)
	}
	w.announced = 0
	key, unknown := w.key(), "0000000000000000"
	_, noGuild := w.Guild(ctx, guild2)
	_, _, taken := w.PutGuild(ctx, settings(t, guild2, `,"vanity":"gophers"`))
	_, _, noGrant := w.CreateKey(ctx, apikey.NewKey{Name: "bot", OwnerID: owner, Permission: apikey.Read, GuildIDs: []id.Guild{guild2}})
	w.archive.Fail("PutGuild", fmt.Errorf("put_guild: %w", guild.ErrSeasonClosed))
	_, _, closed := w.PutGuild(ctx, settings(t, guild2, ""))
	for name, c := range map[string]struct {
		err  error
		code fault.Code
		says string
	}{
		"read a guild":               {noGuild, fault.NotFound, "guild"},
		"delete a guild":             {w.DeleteGuild(ctx, guild2), fault.NotFound, "guild"},
		"a taken vanity":             {taken, fault.Conflict, "vanity"},
		"a season that has closed":   {closed, fault.Invalid, "season"},
		"a key for an unknown guild": {noGrant, fault.NotFound, "guild"},
		"grant an unknown guild":     {w.Grant(ctx, key, guild2), fault.NotFound, "guild"},
		"grant to an unknown key":    {w.Grant(ctx, unknown, guild1), fault.NotFound, "key"},
		"take from an unknown key":   {w.Ungrant(ctx, unknown, guild1), fault.NotFound, "key"},
		"revoke an unknown key":      {w.Revoke(ctx, unknown), fault.NotFound, "key"},
	} {
		if f := fault.From(c.err); f == nil || f.Code != c.code || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %v, want code %v about a %s", name, c.err, c.code, c.says)
		}
	}
	if w.announced != 0 {
		t.Errorf("%d refusals were announced", w.announced)
	}
}

func TestTheSecretOfAKeyIsInTheAnswerOnly(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.prepare()
	secret, made, err := w.CreateKey(ctx, apikey.NewKey{Name: "bot", OwnerID: owner, Permission: apikey.ReadWrite, GuildIDs: []id.Guild{guild1}})
	if err != nil {
		t.Fatal(err)
	}
	if want := noon.UTC().Truncate(time.Millisecond); !made.CreatedAt.Equal(want) {
		t.Errorf("created at %v, want %v", made.CreatedAt, want)
	}
	keys, err := w.Keys(ctx, "", 10)
	if err != nil || len(keys) != 2 {
		t.Fatalf("keys %+v, %v", keys, err)
	}
	for _, k := range append(keys, &made) {
		if strings.Contains(fmt.Sprintf("%+v", *k), secret) {
			t.Errorf("key %s holds its secret", k.ID)
		}
	}
}

// archiveMembers writes members of a guild straight into the archive, and loads the guild.
func (w *world) archiveMembers(n int) leaderboard.GuildRef {
	w.Helper()
	ctx, log := w.Context(), slog.New(slog.DiscardHandler)
	g, err := w.Guild(ctx, guild1)
	if err != nil {
		w.Fatal(err)
	}
	rows := make([]snapshot.Row, n)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: id.User(fmt.Sprintf("3%017d", i)), XP: 1}}
	}
	writer := snapshot.NewWriter(w.store, w.archive, nil, snapshot.WriterOptions{Holder: "writer", Interval: time.Hour, Log: log})
	hydrator := hydrate.New(w.store, w.archive, log)
	defer hydrator.Close()
	if err := errors.Join(writer.Import(ctx, leaderboard.Ref(g), rows), hydrator.Load(ctx, leaderboard.Ref(g))); err != nil {
		w.Fatal(err)
	}
	return leaderboard.Ref(g)
}

func TestADeletedGuildsMembersLeaveBothStores(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.prepare()
	g := w.archiveMembers(30_000)
	if err := w.DeleteGuild(ctx, guild1); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Version(ctx, g); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("in Redis: %v", err)
	}
	if left, err := w.archive.Purge(ctx, 100_000, snapshot.Keep{Tombstones: 24 * time.Hour}); err != nil || left != 0 {
		t.Errorf("%d rows are left in the archive, %v", left, err)
	}
	if _, err := w.Guild(ctx, guild1); !fault.Is(err, fault.NotFound) {
		t.Errorf("guild: %v", err)
	}
}

// Once the archive has committed, the guild is gone: what cannot be cleared away at once is not the caller's failure.
func TestADeletionStandsThoughItsTracesRemain(t *testing.T) {
	for name, breaks := range map[string]func(w *world){
		"in Redis":       func(w *world) { w.live.err = errBroken },
		"in the archive": func(w *world) { w.archive.Fail("Purge", errBroken) },
	} {
		t.Run(name, func(t *testing.T) {
			w, ctx := newWorld(t), t.Context()
			w.prepare()
			old := w.archiveMembers(10)
			breaks(w)
			if err := w.DeleteGuild(ctx, guild1); err != nil {
				t.Fatal(err)
			}
			if w.announced != 1 {
				t.Errorf("announced %d times", w.announced)
			}
			w.live.err = nil
			w.archive.Fail("Purge", nil)
			snapshot.NewWriter(w.store, w.archive, nil,
				snapshot.WriterOptions{Holder: "writer", Interval: time.Hour, Log: slog.New(slog.DiscardHandler)}).Purge(ctx)
			if _, err := w.store.Version(ctx, old); !errors.Is(err, leaderboard.ErrNotLoaded) {
				t.Errorf("in Redis after the snapshot writer came by: %v", err)
			}
			if left, err := w.archive.Purge(ctx, 1000, snapshot.Keep{Tombstones: 24 * time.Hour}); err != nil || left != 0 {
				t.Errorf("%d rows in the archive after the snapshot writer came by, %v", left, err)
			}
		})
	}
}

// A bot that puts its guilds whenever it starts changes nothing, and nobody has to read them again.
func TestAGuildPutAsItIsStaysAsItIs(t *testing.T) {
	w := newWorld(t)
	first, created, err := w.PutGuild(t.Context(), settings(t, guild1, `,"vanity":"gophers","enabled":false`))
	if err != nil || !created || w.announced != 1 {
		t.Fatalf("created: %v, %d announcements, %v", created, w.announced, err)
	}
	again, created, err := w.PutGuild(t.Context(), first.Settings)
	if err != nil || created || again.Version != first.Version || again.Incarnation != first.Incarnation || w.announced != 1 {
		t.Errorf("put again: %+v, created: %v, %d announcements, %v; want version %d", again, created, w.announced, err, first.Version)
	}
	other := first.Settings
	other.Name = "Moles"
	changed, created, err := w.PutGuild(t.Context(), other)
	if err != nil || created || changed.Version == first.Version || changed.Name != "Moles" || w.announced != 2 {
		t.Errorf("put with another name: %+v, created: %v, %d announcements, %v", changed, created, w.announced, err)
	}
}
