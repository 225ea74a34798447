package redisstore_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/usecase/leaderboard"
)

// packer has the records of guild1 as old as a test wants.
type packer struct {
	*testing.T
	*redisstore.Store
	client *redisconn.Client
}

// age makes the only record that is whole, and what waits to be archived, so old.
func (p packer) age(by time.Duration) {
	p.Helper()
	made := fmt.Sprint(time.Now().Add(-by).UnixMilli())
	field, record := recordIn(p.T, p.client)
	_, rest, _ := strings.Cut(record, " ")
	ok(p, p.client.HSet(p.Context(), prefix+"once", field, made+" "+rest).Err())
	if p.client.HExists(p.Context(), prefix+"meta", "since").Val() {
		ok(p, p.client.HSet(p.Context(), prefix+"meta", "since", made).Err())
	}
}

// pass goes over all records, and returns what is there then: the whole and the packed.
func (p packer) pass() (whole, packed map[string]string) {
	p.Helper()
	ok(p, p.client.HDel(p.Context(), prefix+"once", " ").Err()) // some time after the last one
	for guilds := []id.Guild{guild1.ID}; len(guilds) > 0; {
		var err error
		guilds, err = p.Forget(p.Context(), guilds)
		ok(p, err)
	}
	whole, packed = map[string]string{}, map[string]string{}
	for field, text := range p.client.HGetAll(p.Context(), prefix+"once").Val() {
		switch {
		case strings.Contains(field, " ") && len(field) > 1:
			packed[field] = text
		case len(field) > 1:
			whole[field] = text
		}
	}
	return whole, packed
}

// change changes user1's XP with what the archive knows, nil for nothing that was asked.
func (p packer) change(c leaderboard.Change, past *leaderboard.Past) (leaderboard.Outcome, error) {
	c.Once.Past = past
	return p.Change(p.Context(), guild1, user1, c)
}

func (p packer) wants(what string, c leaderboard.Change, past *leaderboard.Past, want error) {
	p.Helper()
	if o, err := p.change(c, past); !errors.Is(err, want) {
		p.Errorf("%s: %+v, %v, want %v", what, o, err, want)
	}
}

func TestARecordIsPackedOnceTheArchiveHasIt(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		p := packer{t, redisstore.New(client, redisstore.Options{}), client}
		ctx, request := t.Context(), named("key")
		load(t, p.Store, row(user1))
		first, err := p.change(request, nil)
		ok(t, err)
		p.age(11 * time.Minute)
		if whole, packed := p.pass(); len(whole) != 1 || len(packed) != 0 {
			t.Errorf("before its archive: %v, %v", whole, packed)
		}
		batch := changesOf(t, p.Store, guild1, 10)
		past := &leaderboard.Past{Epoch: 1, Made: true, Request: request.Once.Request, Outcome: batch.Records[0].Outcome}
		ended(t, p.Store, batch)
		p.age(9 * time.Minute)
		if whole, packed := p.pass(); len(whole) != 1 || len(packed) != 0 {
			t.Errorf("in its first ten minutes: %v, %v", whole, packed)
		}
		p.age(11 * time.Minute)
		whole, packed := p.pass()
		if len(whole) != 0 || len(packed) != 1 {
			t.Fatalf("then: %v, %v", whole, packed)
		}
		if head := client.HGet(ctx, prefix+"once", "").Val(); head != "77 +0" {
			t.Errorf("versions that do not know packed records read %q, and do not ask the archive", head)
		}

		before := client.HGetAll(ctx, prefix+"once").Val()
		first.Replayed = true
		for range 2 {
			p.wants("a repeat", request, nil, leaderboard.ErrAskArchive)
			if o, err := p.change(request, past); err != nil || o != first {
				t.Errorf("a repeat that the archive knows: %+v, %v, want %+v", o, err, first)
			}
		}
		p.wants("a repeat that it lost", request, &leaderboard.Past{Epoch: 1}, leaderboard.ErrOutcomeLost)
		p.wants("one of which it lost a part", request, &leaderboard.Past{Epoch: 1, Made: true, Request: past.Request, Outcome: past.Outcome, Lost: []id.User{user1}}, leaderboard.ErrOutcomeLost)
		other := request
		other.Once.Request = leaderboard.DigestOf([]byte("another"))
		p.wants("another request", other, nil, leaderboard.ErrAskArchive)
		p.wants("another request, then", other, past, leaderboard.ErrKeyReused)
		loadGuild(t, p.Store, guildNo(2), user1)
		if _, err := p.Change(ctx, guildNo(2), user1, request); !errors.Is(err, leaderboard.ErrKeyReused) {
			t.Errorf("in another guild: %v", err)
		}
		if m, err := p.Member(ctx, guild1, user1); err != nil || m.XP != first.After || !maps.Equal(client.HGetAll(ctx, prefix+"once").Val(), before) {
			t.Errorf("%d XP, %v, or another record than before", m.XP, err)
		}

		state := leaves(t, client, p.Store, 1)
		state.Epoch++
		loads(t, p.Store, state)
		p.wants("after the guild was away", request, nil, leaderboard.ErrAskArchive)
		if head := client.HGet(ctx, prefix+"once", "").Val(); head != "77 +0" {
			t.Errorf("after the guild was away it is %q", head)
		}

		// A name whose characters are those of a time and the name after it is another one.
		for _, text := range packed {
			ok(t, client.HSet(ctx, prefix+"once", fmt.Sprintf("77 AA%d", text[8]%4), text+text).Err())
			unaligned := request
			name, err := base64.RawURLEncoding.DecodeString("AA" + text[8:] + text[:4] + strings.Repeat("A", 12))
			ok(t, err)
			unaligned.Once.Key = leaderboard.Digest(name)
			if o, err := p.change(unaligned, nil); err != nil || o.Replayed {
				t.Errorf("unaligned: %+v, %v", o, err)
			}
		}

		// Who was created again has no past.
		next := guild1
		next.Incarnation++
		ok(t, p.Drop(ctx, guild1))
		loadGuild(t, p.Store, next, user1)
		if o, err := p.Change(ctx, next, user1, request); err != nil || o.Replayed {
			t.Errorf("the next incarnation: %+v, %v", o, err)
		}
	})
}

// Of names of all ages, many of which share a field, those of a day are known and no others. Several are packed again and again.
func TestPackedNamesAreFound(t *testing.T) {
	const names, day = 200, 24 * time.Hour
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		p := packer{t, redisstore.New(client, redisstore.Options{}), client}
		ctx, random := t.Context(), rand.New(rand.NewPCG(1, 2))
		load(t, p.Store, row(user1))
		requests, ages := make([]leaderboard.Change, names), make([]time.Duration, names)
		for i := range requests {
			requests[i] = named("")
			for at := range requests[i].Once.Key {
				requests[i].Once.Key[at] = byte(random.UintN(256))
			}
			copy(requests[i].Once.Key[:], []byte{byte(i % 2), 0, 0}) // 18 bits are three characters
			ages[i] = time.Duration(random.Int64N(int64(27 * time.Hour)))
			if i%5 == 0 {
				ages[i] = -1 // not made
				continue
			}
			if ages[i] > day && ages[i] < day+2*time.Minute {
				ages[i] += 2 * time.Minute // minutes are what is packed
			}
			record := fmt.Sprintf("%d 77 %s 100 101 0", time.Now().Add(-ages[i]).UnixMilli(), base64.RawURLEncoding.EncodeToString(requests[i].Once.Request[:]))
			ok(t, client.HSet(ctx, prefix+"once", base64.RawURLEncoding.EncodeToString(requests[i].Once.Key[:]), record).Err())
			if i%50 == 49 {
				p.pass()
			}
		}
		whole, packed := p.pass()
		if len(packed) != 2 {
			t.Fatalf("%d whole, packed %v", len(whole), packed)
		}
		xp := level.XP(100)
		for i, c := range requests {
			o, err := p.change(c, nil)
			switch age := ages[i]; {
			case age < 0 || age > day:
				if xp++; err != nil || o.After != xp || o.Replayed {
					t.Errorf("a request of %v ago: %+v, %v, want it made", age, o, err)
				}
			case age > 11*time.Minute && !errors.Is(err, leaderboard.ErrAskArchive):
				t.Errorf("a request of %v ago: %+v, %v, want the archive asked", age, o, err)
			case age < 9*time.Minute && (err != nil || !o.Replayed):
				t.Errorf("a request of %v ago: %+v, %v, want a replay", age, o, err)
			}
		}
		// A day later, none is there.
		for field, text := range packed {
			old := strconv.FormatInt((time.Now().Unix()/60-24*60-2)%65536+65536, 16)[1:]
			for at := 8; at < len(text); at += 12 {
				text = text[:at] + old + text[at+4:]
			}
			ok(t, client.HSet(ctx, prefix+"once", field, text).Err())
		}
		ok(t, client.HSet(ctx, prefix+"meta", "since", 0).Err()) // or those that were made above are packed one day
		if _, packed = p.pass(); len(packed) != 0 {
			t.Errorf("after a day: %v", packed)
		}
	})
}
