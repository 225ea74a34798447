package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
)

// Names by which a test finds data of an erased user.
const erasedName, erasedGlobal = "zebedeezz", "Zébulon Zz"

// heap reads all data and logs of the service.
type heap struct {
	*testing.T
	redis    *redis.Client
	postgres *pgx.Conn
	log      testenv.Log
}

// with lists where one of the texts is: tables of Postgres, keys of Redis, the log.
func (h *heap) with(texts ...string) (places []string) {
	h.Helper()
	ctx := context.Background()
	rows, err := h.postgres.Query(ctx, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	h.ok(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	h.ok(err)
	for _, table := range tables {
		for _, text := range texts {
			var n int
			h.ok(h.postgres.QueryRow(ctx, `SELECT count(*) FROM "`+table+`" t WHERE position(lower($1) IN lower(t::text)) > 0`, text).Scan(&n))
			if n > 0 {
				places = append(places, fmt.Sprintf("%d rows of %s", n, table))
			}
		}
	}
	keys, err := h.redis.Keys(ctx, "*").Result()
	h.ok(err)
	if len(tables) < 20 || len(keys) < 5 {
		h.Errorf("searched %d tables and %d keys, want at least 20 and 5", len(tables), len(keys))
	}
	for _, key := range keys {
		held := key + " " + h.held(key)
		for _, text := range texts {
			if strings.Contains(held, text) {
				places = append(places, key)
			}
		}
	}
	for _, text := range texts {
		if h.log.Has(text) {
			places = append(places, "the log")
		}
	}
	return places
}

// held returns the content of a key as text.
func (h *heap) held(key string) string {
	h.Helper()
	ctx := context.Background()
	kind, err := h.redis.Type(ctx, key).Result()
	h.ok(err)
	switch kind {
	case "none":
		return ""
	case "string":
		return h.redis.Get(ctx, key).Val()
	case "hash":
		return fmt.Sprint(h.redis.HGetAll(ctx, key).Val())
	case "zset":
		return fmt.Sprint(h.redis.ZRange(ctx, key, 0, -1).Val())
	case "stream":
		return fmt.Sprint(h.redis.XRange(ctx, key, "-", "+").Val())
	}
	h.Fatalf("the key %s has the unknown type %s", key, kind)
	return ""
}

func (h *heap) ok(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// An erased user is in no table, key or line of the log after the erasure, nor after Redis restored an older dump.
func TestAnErasureLeavesNothing(t *testing.T) {
	t.Parallel()
	server, database := testenv.Redis(t), postgrestest.URL(t)
	h := &heap{T: t, redis: redisClient(t, server)}
	conn, err := pgx.Connect(t.Context(), database)
	h.ok(err)
	h.postgres = conn
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	environ := []string{"LEVELBOARD_REDIS_URL=" + server.URL(), "LEVELBOARD_POSTGRES_URL=" + database, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms"}
	s := run(t, newLogging(t, slog.NewTextHandler(&h.log, nil), environ...))
	second := start(t, environ...)

	user, friend := newID(), newID()
	g := s.guild(object{"periods": []string{"day", "week"}})
	left := s.guild(nil)
	key := s.key(g, left)
	own := apitest.JSON[struct{ Key string }](t, s.admin("POST", "/keys", object{"name": erasedName, "ownerId": user, "permission": "read", "guildIds": []string{g}}).Want(t, 201))
	s.Do("GET", boardPath(g, 1), own.Key, nil).Want(t, 200)
	data := object{"username": erasedName, "discriminator": "0", "globalName": erasedGlobal, "avatar": nil}
	named := func(name string) apitest.Option { return apitest.Header("Idempotency-Key", name) }
	s.Do("POST", memberPath(g, user), key, object{"xp": 90, "user": data}, named("create")).Want(t, 200)
	s.create(key, g, friend, 50)
	s.create(key, left, user, 5)
	s.patch(key, left, user, object{"increment": 1000})
	s.Do("DELETE", memberPath(left, user), key, nil).Want(t, 204)
	messages := object{"messages": []object{{"userId": user, "channelId": newID(), "user": data}, {"userId": friend, "channelId": newID()}}}
	s.Do("POST", "/v2/guilds/"+g+"/messages", key, messages, named("messages")).Want(t, 200)
	s.Do("GET", boardPath(g, 1)+"&period=week", key, nil).Want(t, 200) // creates the boards of the running periods
	s.checkpoint(g, "with everybody")
	h.ok(h.redis.ZAdd(t.Context(), "lb:sessions:"+user, redis.Z{Score: float64(time.Now().Add(signin.LifeTime).UnixMilli()), Member: "x"}).Err())
	_, err = conn.Exec(t.Context(), `
		WITH closed AS (
			INSERT INTO periods (incarnation, id, kind, name, first_day, end_day, begins_ms, ends_ms, members, gained, board, settings, closed_ms)
			SELECT incarnation, '2026-01-01', 'day', '', 20454, 20455, 1767225600000, 1767312000000, 2, 3, true, settings, 1767312000000 FROM guilds WHERE id = $1
			RETURNING number)
		INSERT INTO standings (period, rank, user_id, gained, xp, message_count, discriminator, username, global_name)
		SELECT number, rank, user_id, 1, 1, 1, '', name, name FROM closed, (VALUES (1, $2, $3), (2, $4, '')) AS s (rank, user_id, name)`, g, user, erasedName, friend)
	h.ok(err)
	document := func(more object) object {
		maps.Copy(more, object{"name": "left", "memberCount": 1, "ownerId": friend})
		return more
	}
	s.admin("PUT", "/guilds/"+left, document(object{"adminIds": []string{user}, "ignoredUserIds": []string{friend, user}})).Want(t, 200)
	s.admin("PUT", "/guilds/"+left, document(object{})).Want(t, 200)
	reason := apitest.Header("X-Audit-Log-Reason", "asked%20by%20"+user)
	s.Do("PATCH", memberPath(g, friend), key, object{"xp": object{"increment": 1000}}, reason).Want(t, 200)
	archived(t, h.redis, g)
	s.patch(key, g, user, object{"increment": 1000}) // in the dump, not in the archive, as is the next
	s.Do("PATCH", memberPath(g, friend), key, object{"xp": object{"increment": 1000}}, reason).Want(t, 200)
	h.ok(h.redis.Save(t.Context()).Err())
	file := filepath.Join(server.Dir(), "dump.rdb")
	old, err := os.ReadFile(file)
	h.ok(err)
	if places := h.with(user, erasedName, erasedGlobal); len(places) < 20 || strings.Contains(fmt.Sprint(places), "the log") {
		t.Fatalf("before the erasure the user is in %d places, want at least 20 and not the log: %v", len(places), places)
	}

	s.erase(user)
	if places := h.with(user, erasedName, erasedGlobal); len(places) > 0 {
		t.Errorf("after the erasure the user is still in %v", places)
	}
	if again := s.Do("POST", "/v2/guilds/"+g+"/messages", key, object{"messages": []object{{"userId": friend, "channelId": newID()}}}, named("messages")); again.Status != 409 {
		t.Errorf("repeating a request that also named others is %d, want 409", again.Status)
	}
	records := string(s.admin("GET", "/guilds/"+g+"/audit", nil).Want(t, 200).Body)
	if !strings.Contains(records, `"userId":"erased-1"`) || !strings.Contains(records, `"userId":"`+friend+`"`) {
		t.Errorf("the audit log lacks erased-1 or user %s: %s", friend, records)
	}
	board := s.Do("GET", boardPath(g, 1)+"&period=2026-01-01", key, nil).Want(t, 200)
	if !strings.Contains(string(board.Body), `"rank":2`) || strings.Contains(string(board.Body), `"rank":1,`) {
		t.Errorf("the closed board is %s, want rank 2 without rank 1", board.Body)
	}

	server.Kill()
	h.ok(os.WriteFile(file, old, 0o600))
	server.Start()
	var places []string
	defer func() {
		if t.Failed() {
			t.Logf("after the wait the user is still in %v", places)
		}
	}()
	testenv.Wait(t, "the user is nowhere again", func() bool {
		r, err := second.quick("GET", memberPath(g, friend), key, "")
		if err != nil || r.Status != 200 {
			return false
		}
		places = h.with(user, erasedName, erasedGlobal)
		return len(places) == 0
	})
	for _, on := range []*service{s, second} {
		on.Do("GET", memberPath(g, user), key, nil).Want(t, 404)
		on.admin("GET", "/users/"+user, nil).Want(t, 404)
	}
	s.create(key, g, user, 1) // a new entry after the erasure stays
	archived(t, h.redis, g)
	if found := s.stored(user); len(found.Guilds) != 1 || found.Guilds[0].XP != 1 {
		t.Errorf("after a new entry of 1 XP %+v is stored, want that entry only", found)
	}

	// An erasure that was interrupted at its start is completed in the background.
	_, err = conn.Exec(t.Context(), `UPDATE erasures SET user_id = $1, erased_ms = NULL`, user)
	h.ok(err)
	testenv.Wait(t, "the erasure is completed", func() bool { return len(h.with(user)) == 0 })
	s.admin("GET", "/users/"+user, nil).Want(t, 404)
}
