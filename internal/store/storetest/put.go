package storetest

import (
	"fmt"
	"reflect"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var putCases = []boardCase{
	{"members are put in every mode", putModes},
	{"a put waits for the snapshot", putIsAChange},
	{"a repeated put is made once", putOnce},
}

// put puts members in one step and returns what became of each.
func (b *board) put(p leaderboard.Puts) []leaderboard.Done {
	b.Helper()
	done, replayed, err := b.Put(b.Context(), b.g, p)
	if err != nil || replayed || len(done) != len(p.Members) {
		b.Fatalf("putting %d members gave %+v, replayed %v (%v)", len(p.Members), done, replayed, err)
	}
	return done
}

// putCase is a member before a put, and the put.
type putCase struct {
	there, away bool // exists with 5 XP, 2 messages and user data
	put         leaderboard.Put
}

func putCombinations() (all []putCase) {
	two, seven, none := int64(2), int64(7), int64(0)
	same, other := rowN(0, 0).User, leaderboard.User{Username: "other"}
	for _, state := range []putCase{{}, {there: true}, {there: true, away: true}} {
		for _, xp := range []level.XP{0, 5, 9, level.MaxXP} {
			c := state
			c.put = leaderboard.Put{User: userN(len(all) + 1), XP: xp, Absent: true}
			all = append(all, c)
			for _, count := range []*int64{nil, &none, &two, &seven} {
				for _, data := range []*leaderboard.User{nil, &same, &other} {
					c := state
					c.put = leaderboard.Put{User: userN(len(all) + 1), XP: xp, MessageCount: count, Data: data}
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// want returns what the put must make of the member: the rules, in Go.
func (c putCase) want(mode leaderboard.PutMode) (leaderboard.Done, leaderboard.User) {
	given := leaderboard.Done{State: leaderboard.Created, XP: c.put.XP}
	if c.put.MessageCount != nil {
		given.MessageCount = *c.put.MessageCount
	}
	if !c.there {
		if c.put.Data == nil {
			return given, leaderboard.User{}
		}
		return given, *c.put.Data
	}
	now, user := leaderboard.Done{State: leaderboard.Unchanged, XP: 5, MessageCount: 2}, rowN(0, 0).User
	if mode == leaderboard.PutMissing {
		return now, user
	}
	becomes := func(before, given int64) int64 {
		switch mode {
		case leaderboard.PutHigher:
			return max(before, given)
		case leaderboard.PutAdd:
			return min(before+given, int64(level.MaxXP))
		}
		return given
	}
	after := leaderboard.Done{State: leaderboard.Unchanged, XP: level.XP(becomes(5, int64(given.XP))), MessageCount: 2}
	if c.put.MessageCount != nil {
		after.MessageCount = becomes(2, given.MessageCount)
	}
	changed := after != now || c.hides(mode)
	if c.put.Data != nil {
		changed = changed || !reflect.DeepEqual(*c.put.Data, user)
		user = *c.put.Data
	}
	if changed {
		after.State = leaderboard.Changed
	}
	return after, user
}

// hides reports whether the put takes the member off the board.
func (c putCase) hides(mode leaderboard.PutMode) bool {
	return c.put.Absent && !c.away && (mode != leaderboard.PutMissing || !c.there)
}

func putModes(b *board) {
	for i, mode := range leaderboard.PutModes {
		putMode(b, mode, i)
	}
}

func putMode(b *board, mode leaderboard.PutMode, n int) {
	b.g.ID = id.Guild(fmt.Sprintf("3%017d", n))
	cases := putCombinations()
	b.load()
	for _, c := range cases {
		if c.there {
			row := rowN(0, 5)
			b.put(leaderboard.Puts{Mode: leaderboard.PutSet, Members: []leaderboard.Put{{User: c.put.User, XP: 5, MessageCount: new(int64(2)), Data: &row.User}}})
		}
		if c.away {
			b.leave(c.put.User)
		}
	}
	b.flushAll()
	for at := 0; at < len(cases); at += leaderboard.MaxAwards {
		part := cases[at:min(at+leaderboard.MaxAwards, len(cases))]
		puts := leaderboard.Puts{Mode: mode}
		for _, c := range part {
			puts.Members = append(puts.Members, c.put)
		}
		for i, done := range b.put(puts) {
			if want, _ := part[i].want(mode); done != want {
				b.Errorf("%s of %+v gave %+v, want %+v", mode, part[i], done, want)
			}
		}
	}
	rows := map[id.User]int{}
	archived := b.flushAll()
	for i := range archived {
		rows[archived[i].UserID] = i
	}
	onBoard := map[id.User]bool{}
	for _, row := range b.page(0, int64(len(cases))).Rows {
		onBoard[row.UserID] = true
	}
	for _, c := range cases {
		want, user := c.want(mode)
		if onBoard[c.put.User] == (c.away || c.hides(mode)) {
			b.Errorf("after %s of %+v the member is on the board: %v, want the opposite", mode, c, onBoard[c.put.User])
		}
		i, waited := rows[c.put.User]
		if waited != (want.State != leaderboard.Unchanged) {
			b.Errorf("%s of %+v: the member waits for the snapshot: %v", mode, c, waited)
		}
		if !waited {
			continue
		}
		if r := archived[i]; r.XP != want.XP || r.MessageCount != want.MessageCount || r.Absent != (c.away || c.hides(mode)) || !reflect.DeepEqual(r.User, user) {
			b.Errorf("%s of %+v is archived as %+v, want %+v of %+v", mode, c, r, want, user)
		}
	}
}

func putIsAChange(b *board) {
	puts := leaderboard.Puts{Mode: leaderboard.PutSet, Members: []leaderboard.Put{{User: userN(2), XP: 7}, {User: userN(1), XP: 1}}}
	_, _, err := b.Put(b.Context(), b.g, puts)
	b.wants("in a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 1))
	before := b.version()
	b.put(puts)
	if after := b.version(); after.Rev != before.Rev+1 {
		b.Errorf("a put that changed one of two members moved the version from %v to %v", before, after)
	}
	b.changedGuilds(b.g.ID)
	if b.wantMember(userN(2), 7, 0).Rank != 1 {
		b.Error("the new member does not have rank 1")
	}
	before = b.version()
	b.put(puts)
	if after := b.version(); after != before {
		b.Errorf("a put without an effect moved the version from %v to %v", before, after)
	}
}

func putOnce(b *board) {
	b.load(rowN(1, 1))
	add := func(part int, members ...leaderboard.Put) leaderboard.Puts {
		return leaderboard.Puts{Mode: leaderboard.PutAdd, Members: members, Once: onceOf("call", 1).Step(part)}
	}
	step := add(0, leaderboard.Put{User: userN(1), XP: 5}, leaderboard.Put{User: userN(2), XP: 7})
	first := b.put(step)
	b.change(userN(1), plusOne)
	got, replayed, err := b.Put(b.Context(), b.g, step)
	if err != nil || !replayed || !reflect.DeepEqual(got, first) {
		b.Errorf("the repeated put gave %+v, replayed %v (%v), want a replay of %+v", got, replayed, err, first)
	}
	b.wantMember(userN(1), 7, 1)

	// A step without an effect is recorded too.
	nothing := add(1, leaderboard.Put{User: userN(1)})
	if got := b.put(nothing); got[0].State != leaderboard.Unchanged {
		b.Errorf("a put without an effect gave %+v, want unchanged", got)
	}
	b.change(userN(1), plusOne)
	got, replayed, err = b.Put(b.Context(), b.g, nothing)
	if err != nil || !replayed || got[0].XP != 7 {
		b.Errorf("the repeated put gave %+v, replayed %v (%v), want a replay with 7 XP", got, replayed, err)
	}
	other := step
	other.Once.Request = leaderboard.DigestOf([]byte("another"))
	_, _, err = b.Put(b.Context(), b.g, other)
	b.wants("another request under the key", err, leaderboard.ErrKeyReused)
}
