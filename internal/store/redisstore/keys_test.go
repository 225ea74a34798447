package redisstore_test

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// docs/redis-keys.md lists all keys.
func TestKeysThroughTheLifeOfAGuild(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	want := func(when string, want map[string]string) {
		t.Helper()
		if got := keyTypes(t, client); !maps.Equal(got, want) {
			t.Errorf("the keys %s are %v, want %v", when, got, want)
		}
	}

	h, _, err := s.BeginHydration(ctx, guild1, snapshot.State{})
	ok(t, err)
	ok(t, s.LoadChunk(ctx, h, []snapshot.Row{row(user1)}))
	staging := prefix + "load:" + h.Token
	want("during a hydration", map[string]string{
		prefix + "hydrating": "string", staging + ":xp": "zset", staging + ":entry": "hash",
	})
	for key, most := range map[string]time.Duration{
		prefix + "hydrating": 10 * time.Second, staging + ":xp": 5 * time.Minute, staging + ":entry": 5 * time.Minute,
	} {
		if ttl := client.PTTL(ctx, key).Val(); ttl <= most-8*time.Second || ttl > most {
			t.Errorf("the key %s expires in %v, want %v", key, ttl, most)
		}
	}

	ok(t, s.CommitHydration(ctx, h, snapshot.State{Epoch: 3, Archived: 10}))
	loaded := map[string]string{prefix + "meta": "hash", prefix + "xp": "zset", prefix + "entry": "hash"}
	want("of a loaded guild", loaded)
	for key := range loaded {
		if ttl := client.PTTL(ctx, key).Val(); ttl != -1 {
			t.Errorf("the key %s expires in %v, want never", key, ttl)
		}
	}

	_, err = s.Change(ctx, guild1, user1, up)
	ok(t, err)
	ok(t, s.FlushChanged(ctx))
	changed := maps.Clone(loaded)
	changed["lb:changed-guilds"], changed["lb:eventful-guilds"], changed[prefix+"dirty"], changed[prefix+"events:77"] = "zset", "zset", "zset", "stream"
	want("of a changed guild", changed)

	// A named request leaves a record that expires.
	_, err = s.Change(ctx, guild1, user1, known("key", 3))
	ok(t, err)
	record, _ := recordKey(t, client)
	withRecord := maps.Clone(changed)
	withRecord[record], withRecord[prefix+"journal"] = "string", "stream"
	want("after a request with a name", withRecord)

	_, err = s.ChangedGuilds(ctx)
	ok(t, err)
	eventful, err := s.TakeEventful(ctx)
	if ok(t, err); !slices.Equal(eventful, []id.Guild{guild1.ID}) {
		t.Errorf("the guilds with events are %v, want %s", eventful, guild1.ID)
	}
	ended(t, s, changesOf(t, s, guild1, 10))
	ok(t, client.Del(ctx, record).Err())
	written := maps.Clone(loaded)
	written[prefix+"events:77"], written[prefix+"journal"] = "stream", "stream"
	want("after a snapshot, without the record", written)

	_, err = s.Delete(ctx, guild1, user1, leaderboard.Removal{})
	ok(t, err)
	_, err = s.Create(ctx, guild1, user1, leaderboard.Creation{XP: 1})
	ok(t, err)
	ok(t, s.FlushChanged(ctx))
	ok(t, s.Drop(ctx, guild1))
	want("after drop", map[string]string{"lb:changed-guilds": "zset", "lb:eventful-guilds": "zset"})
}

// From its first change on, a guild that counts gains has a sorted set for the day and for each configured kind of period.
func TestKeysOfAGuildThatCountsGains(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	loaded := keyTypes(t, client)
	week := period.At(period.Weekly, period.DayAt(time.Now(), time.UTC))
	want := func(when string, base map[string]string, boards ...period.Kind) {
		t.Helper()
		want := maps.Clone(base)
		for _, kind := range boards {
			key := prefix + "gain:" + string(kind)
			want[key] = "zset"
			if ttl := client.PTTL(ctx, key).Val(); ttl != -1 {
				t.Errorf("the key %s %s expires in %v, want never", key, when, ttl)
			}
		}
		if got := keyTypes(t, client); !maps.Equal(got, want) {
			t.Errorf("the keys %s are %v, want %v", when, got, want)
		}
		meta := client.HGetAll(ctx, prefix+"meta").Val()
		if kept := strings.Contains(meta["boards"], week.Range()); kept != (len(boards) > 0) {
			t.Errorf("meta %s is %v, want the boards %v", when, meta, boards)
		}
	}
	change := func(c leaderboard.Change) {
		t.Helper()
		_, err := s.Change(ctx, guild1, user1, c)
		ok(t, err)
		ended(t, s, changesOf(t, s, guild1, 10))
		ok(t, client.Del(ctx, "lb:changed-guilds", "lb:eventful-guilds").Err())
	}
	change(plusOne)
	want("of a guild that counts nothing", loaded)

	counting := plusOne
	counting.Days = period.Calendar{Zone: time.UTC, Kinds: []period.Kind{period.Weekly}}.DaysAt(time.Now())
	change(counting)
	want("after a change that counts", loaded, period.Daily, period.Weekly)
	entry := client.HGet(ctx, prefix+"entry", string(user1)).Val()
	if today := period.DayAt(time.Now(), time.UTC); !strings.Contains(entry, "\x00"+strconv.Itoa(int(today))+":1") && !strings.Contains(entry, "\x00"+strconv.Itoa(int(today-1))+":1") {
		t.Errorf("the entry is %q, want it with today's gain", entry)
	}
	if meta := client.HGetAll(ctx, prefix+"meta").Val(); meta["gained:2"] != "1" || !strings.HasSuffix(meta["boards"], " "+week.Range()+" - -") {
		t.Errorf("meta is %v, want the week's gain and board", meta)
	}

	leaves(t, client, s, 1)
	want("of an evicted guild", map[string]string{prefix + "evicted": "string"})

	h, _, err := s.BeginHydration(ctx, guild1, snapshot.State{Epoch: 1})
	ok(t, err)
	gained := row(user1)
	gained.OnBoards = []int64{0, 5, 0, 0}
	ok(t, s.LoadChunk(ctx, h, []snapshot.Row{gained}))
	h.Boards, h.Gained[1] = "20000 - "+week.Range()+" - -", 5
	ok(t, s.CommitHydration(ctx, h, snapshot.State{Epoch: 2}))
	want("of a loaded guild that has gained before", loaded, period.Weekly)

	ok(t, s.Drop(ctx, guild1))
	want("after drop", map[string]string{})
}

func TestAbortLeavesNoKeys(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	h, _, err := s.BeginHydration(ctx, guild1, snapshot.State{})
	ok(t, err)
	ok(t, s.LoadChunk(ctx, h, []snapshot.Row{row(user1)}))
	ok(t, s.AbortHydration(ctx, h))
	if left := keyTypes(t, client); len(left) != 0 {
		t.Errorf("after an abort the keys %v are left", left)
	}
}

// When its lock expires, a hydration has ended, and another may begin.
func TestAHydrationEndsWhenItsLockExpires(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	late, _, err := s.BeginHydration(ctx, guild1, snapshot.State{})
	ok(t, err)
	ok(t, s.LoadChunk(ctx, late, []snapshot.Row{row(user1)}))
	ok(t, client.Del(ctx, prefix+"hydrating").Err())
	if err := s.CommitHydration(ctx, late, snapshot.State{Epoch: 1}); !errors.Is(err, hydrate.ErrLost) {
		t.Errorf("the late commit: %v, want ErrLost", err)
	}
	load(t, s)
	if p, err := s.Page(ctx, guild1, 0, 10); err != nil || len(p.Rows) != 0 {
		t.Errorf("the page is %+v (%v), want nothing of the late hydration", p, err)
	}
}

// Each chunk extends the lock to its full time.
func TestAChunkExtendsTheLock(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	h, _, err := s.BeginHydration(ctx, guild1, snapshot.State{})
	ok(t, err)
	ok(t, client.PExpire(ctx, prefix+"hydrating", 5*time.Second).Err())
	ok(t, s.LoadChunk(ctx, h, []snapshot.Row{row(user1)}))
	if ttl := client.PTTL(ctx, prefix+"hydrating").Val(); ttl <= 5*time.Second {
		t.Errorf("after a chunk the lock expires in %v, want 10 s", ttl)
	}
}

// After a writer died at any point, meta must have the archived rev and the rev that may be archived.
func TestMetaTracksTheArchive(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	meta := func(when string, fields ...string) {
		t.Helper()
		want := map[string]string{"incarnation": "77", "epoch": "1", "format": "1", "marked": "", "ask": "0"}
		for i := 0; i < len(fields); i += 2 {
			want[fields[i]] = fields[i+1]
		}
		got := client.HGetAll(ctx, prefix+"meta").Val()
		if _, there := got["since"]; there != slices.Contains(fields, "since") {
			t.Errorf("meta %s has since: %v, want %v", when, there, !there)
		}
		if len(got["server"]) < 40 || client.ObjectEncoding(ctx, prefix+"meta").Val() != "listpack" {
			t.Errorf("meta %s has the server %q and the encoding %s, want a listpack", when, got["server"], client.ObjectEncoding(ctx, prefix+"meta").Val())
		}
		for field, value := range want {
			if got[field] != value && value != "" {
				t.Errorf("meta %s has %s %q, want %q", when, field, got[field], value)
			}
		}
		if used, err := strconv.ParseInt(got["used"], 10, 64); err != nil || time.Since(time.UnixMilli(used)).Abs() > time.Hour {
			t.Errorf("meta %s has used %q, want the current time", when, got["used"])
		}
		if len(got) != len(want)+2 {
			t.Errorf("meta %s is %v, want %v", when, got, want)
		}
	}
	changeOne := func() {
		t.Helper()
		_, err := s.Change(ctx, guild1, user1, plusOne)
		ok(t, err)
	}
	meta("after a hydration", "rev", "0", "archived", "0")
	changeOne()
	meta("of a changed guild", "rev", "1", "archived", "0", "since", "")
	first := changesOf(t, s, guild1, 10)
	meta("when a page was read", "rev", "1", "archived", "0", "pending", "1", "read", "1", "since", "")
	changeOne()
	second := changesOf(t, s, guild1, 10)
	meta("when the next page was read", "rev", "2", "archived", "0", "pending", "2", "read", "2", "doubt", "2", "since", "")
	ended(t, s, first)
	meta("when the first page is committed", "rev", "2", "archived", "1", "pending", "2", "read", "2", "doubt", "2", "since", "")
	ended(t, s, second)
	meta("when both are", "rev", "2", "archived", "2", "read", "2", "doubt", "2")
	ended(t, s, first)
	meta("when the first is repeated", "rev", "2", "archived", "2", "read", "2", "doubt", "2")
}

func TestLoadedGuildsIgnoresOtherKeys(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s)
	for _, key := range []string{"lb:{}:meta", "lb:{x}:meta", "lb:{100000000000000002}:metadata", "rate:{100000000000000003}:meta"} {
		ok(t, client.Set(ctx, key, "1", 0).Err())
	}
	guilds, err := s.LoadedGuilds(ctx)
	if err != nil || !slices.Equal(guilds, []id.Guild{guild1.ID}) {
		t.Errorf("the loaded guilds are %v (%v), want %v", guilds, err, guild1.ID)
	}
}

// In a cluster a script can use several keys only in one slot.
func TestAGuildIsOneSlot(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t, testenv.WithConfig("slowlog-log-slower-than 0", "slowlog-max-len 1000")).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	_, err := s.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	_, err = s.Change(ctx, guild1, user1, named("key"))
	ok(t, err)
	ended(t, s, changesOf(t, s, guild1, 10))
	ok(t, s.Drop(ctx, guild1))
	scripts := 0
	for _, call := range client.SlowLogGet(ctx, 1000).Val() {
		if !strings.EqualFold(call.Args[0], "evalsha") {
			continue
		}
		scripts++
		if call.Args[2] == "1" {
			continue // one key is one slot
		}
		for _, arg := range call.Args[3:] {
			if strings.HasPrefix(arg, "lb:") && !strings.HasPrefix(arg, prefix) {
				t.Errorf("a script uses the key %s, outside the guild's slot", arg)
			}
		}
	}
	if scripts < 8 {
		t.Errorf("%d scripts ran, want at least 8", scripts)
	}
}
