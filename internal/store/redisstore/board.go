package redisstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

var memberCalls = &kind{
	script: eachMembersScript,
	keys:   func(g leaderboard.GuildRef) []string { return keysOf(g.ID).board() },
	args: func(args []any, calls []*call) []any {
		for _, l := range calls {
			args = append(args, &l.member)
		}
		return args
	},
}

// Member implements leaderboard.Board.
func (s *Store) Member(ctx context.Context, g leaderboard.GuildRef, user id.User) (leaderboard.Ranked, error) {
	l := newCall(memberCalls, g)
	defer l.reuse()
	l.member = string(user)
	if err := s.call(ctx, l); err != nil {
		return leaderboard.Ranked{}, err
	}
	m, err := memberOf(l.reply, l.at)
	if err != nil {
		return leaderboard.Ranked{}, fmt.Errorf("redis: member: %w", err)
	}
	m.UserID = user
	return m, nil
}

// memberOf reads one of the members that members.lua answered, but for its id.
func memberOf(r reply, at int) (m leaderboard.Ranked, err error) {
	if len(r) < 3*at+3 {
		return m, fmt.Errorf("%w: it is too short", errReply)
	}
	if r[3*at] == nil {
		return m, leaderboard.ErrNoMember
	}
	xp, err := r.number(3 * at)
	if err != nil {
		return m, err
	}
	rank, err := r.number(3*at + 1)
	if err != nil {
		return m, err
	}
	m.Member, err = entryOf(r, 3*at+2)
	m.XP, m.Rank = level.XP(xp), rank+1
	return m, err
}

// Page implements leaderboard.Board.
func (s *Store) Page(ctx context.Context, g leaderboard.GuildRef, offset, limit int64, known leaderboard.Digest) (leaderboard.Page, error) {
	if offset < 0 || limit < 1 {
		return leaderboard.Page{}, fmt.Errorf("redis: page: offset %d and limit %d are not a page", offset, limit)
	}
	r, err := s.run(ctx, pageScript, keysOf(g.ID).board(), int64(g.Incarnation), offset, offset+limit-1)
	if err != nil {
		return leaderboard.Page{}, err
	}
	p, err := pageOf(r, offset, known)
	if err != nil {
		return leaderboard.Page{}, fmt.Errorf("redis: page: %w", err)
	}
	return p, nil
}

func pageOf(r reply, offset int64, known leaderboard.Digest) (p leaderboard.Page, err error) {
	var scores, entries reply
	if p.Version, scores, entries, err = stretchOf(r); err != nil {
		return p, err
	}
	if p.Digest = digestOf(scores, entries); p.Digest != known {
		p.Rows, err = rowsOf(scores, entries, offset)
	}
	return p, err
}

// stretchOf finds what a script read of a stretch of the board: the version, members with their XP after each, and the entries.
func stretchOf(r reply) (v leaderboard.Version, scores, entries reply, err error) {
	if err = r.numbers(&v.Epoch, &v.Rev); err == nil {
		scores, err = r.list(2, -1)
	}
	if err == nil {
		entries, err = r.list(3, len(scores)/2)
	}
	return v, scores, entries, err
}

func rowsOf(scores, entries reply, offset int64) ([]leaderboard.Ranked, error) {
	rows := make([]leaderboard.Ranked, len(entries))
	for i := range rows {
		m, err := entryOf(entries, i)
		if err != nil {
			return nil, err
		}
		user, _, err := scores.text(2 * i)
		if err != nil {
			return nil, err
		}
		xp, err := scores.number(2*i + 1)
		if err != nil {
			return nil, err
		}
		m.UserID, m.XP = id.User(user), level.XP(xp)
		rows[i] = leaderboard.Ranked{Member: m, Rank: offset + int64(i) + 1}
	}
	return rows, nil
}

// digestOf is over the elements of the lists as texts, each with its length before it.
func digestOf(lists ...reply) leaderboard.Digest {
	all := make([]byte, 0, 16<<10)
	for _, list := range lists {
		for _, v := range list {
			text, ok := v.(string)
			if !ok {
				text = fmt.Sprint(v)
			}
			all = binary.AppendUvarint(all, uint64(len(text)))
			all = append(all, text...)
		}
	}
	return leaderboard.DigestOf(all)
}

// entryOf reads a member's entry, but for XP; where it is missing, it is as if nothing were known.
func entryOf(entries reply, i int) (m leaderboard.Member, err error) {
	text, ok, err := entries.text(i)
	if err != nil || !ok {
		return m, err
	}
	e, err := parseEntry(text)
	if err != nil {
		return m, err
	}
	m.MessageCount, m.LastUpdated = e.count, fromMillis(e.updated)
	m.User, err = decodeUser(e.user)
	return m, err
}

var versionCalls = &kind{
	script: eachVersionScript,
	keys:   func(g leaderboard.GuildRef) []string { return []string{keysOf(g.ID).meta()} },
}

// Version implements leaderboard.Board.
func (s *Store) Version(ctx context.Context, g leaderboard.GuildRef) (leaderboard.Version, error) {
	l := newCall(versionCalls, g)
	defer l.reuse()
	if err := s.call(ctx, l); err != nil {
		return leaderboard.Version{}, err
	}
	var v leaderboard.Version
	if err := l.reply.numbers(&v.Epoch, &v.Rev); err != nil {
		return leaderboard.Version{}, fmt.Errorf("redis: version: %w", err)
	}
	return v, nil
}

// Create implements leaderboard.Board.
func (s *Store) Create(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Creation) (leaderboard.Outcome, error) {
	text, err := encodeUser(c.User)
	if err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: create: %w", err)
	}
	if err := checkXP(c.XP); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: create: %w", err)
	}
	return s.change(ctx, createScript, g, c.Once, int64(g.Incarnation), string(user), int64(c.XP), text, s.sieves.of(c.Curve))
}

var changeCalls = &kind{
	script: eachChangeScript,
	keys:   func(g leaderboard.GuildRef) []string { return keysOf(g.ID).changes(g.Incarnation) },
	args: func(args []any, calls []*call) []any {
		args = append(args, len(calls))
		for _, l := range calls {
			args = append(args, &l.member)
		}
		for _, l := range calls {
			args = append(args, &l.change)
		}
		return append(args, &calls[0].sieve)
	},
	first: func(r reply) bool { return r.at(len(r)-1) == int64(1) },
}

// Change implements leaderboard.Board.
func (s *Store) Change(ctx context.Context, g leaderboard.GuildRef, user id.User, c leaderboard.Change) (leaderboard.Outcome, error) {
	change, err := changeText(c)
	if err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: change: %w", err)
	}
	sieve := s.sieves.of(c.Curve)
	if c.Once.Named() {
		return s.change(ctx, changeScript, g, c.Once, int64(g.Incarnation), 1, string(user), change, sieve)
	}
	l := newCall(changeCalls, g)
	defer l.reuse()
	l.sieve, l.member, l.change = sieve, string(user), change
	if err := s.call(ctx, l); err != nil {
		return leaderboard.Outcome{}, refusedOr(err, eachChangeScript, l.reply, 3*l.at)
	}
	return outcomeOf(eachChangeScript, l.reply, 3*l.at)
}

// refusedOr is the error of a change, but for one that changed nothing and was answered together with others of which too few replicas
// have what they changed.
func refusedOr(err error, sc *script, r reply, at int) error {
	if errors.Is(err, leaderboard.ErrNotReplicated) {
		if _, refused := outcomeOf(sc, r, at); refused != nil {
			return refused
		}
	}
	return err
}

// changeText is how change.lua is told of a change.
func changeText(c leaderboard.Change) (string, error) {
	if err := checkXP(c.Amount); err != nil {
		return "", err
	}
	text := make([]byte, 0, 32)
	switch c.Op {
	case leaderboard.Increment:
	case leaderboard.Decrement:
		text = append(text, '-')
	case leaderboard.Set:
		text = append(text, '=')
	default:
		return "", fmt.Errorf("unknown operation %q", c.Op)
	}
	text = strconv.AppendInt(text, int64(c.Amount), 10)
	if cooldown := cooldownMillis(c.Cooldown); cooldown > 0 {
		text = strconv.AppendInt(append(text, ' '), cooldown, 10)
	}
	return string(text), nil
}

// Delete implements leaderboard.Board.
func (s *Store) Delete(ctx context.Context, g leaderboard.GuildRef, user id.User, once leaderboard.Once) (replayed bool, err error) {
	out, err := s.change(ctx, deleteScript, g, once, int64(g.Incarnation), string(user))
	return out.Replayed, err
}

// change runs a script that changes one member and answers {xp before, xp after, message count, first}.
func (s *Store) change(ctx context.Context, sc *script, g leaderboard.GuildRef, once leaderboard.Once, args ...any) (leaderboard.Outcome, error) {
	r, recorded, err := s.runOnce(ctx, sc, g, once, args...)
	if errors.Is(err, leaderboard.ErrNotReplicated) {
		s.noteChanged(ctx, g.ID, r.at(3))
	}
	if err != nil && r.at(0) != replayedWord {
		err = refusedOr(err, sc, r, 0)
	}
	if err != nil {
		return leaderboard.Outcome{}, err
	}
	if !recorded {
		s.noteChanged(ctx, g.ID, r.at(3))
	}
	out, err := outcomeOf(sc, r, 0)
	out.Replayed = recorded
	return out, err
}

// What change.lua answers as the XP before of a member whom it did not change.
const (
	noMember      = -1
	damagedMember = -2
)

// outcomeOf reads what became of one member, from the place at in the reply.
func outcomeOf(sc *script, r reply, at int) (leaderboard.Outcome, error) {
	var before, after, count int64
	if err := r[min(at, len(r)):].numbers(&before, &after, &count); err != nil {
		return leaderboard.Outcome{}, fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	switch before {
	case noMember:
		return leaderboard.Outcome{}, leaderboard.ErrNoMember
	case damagedMember:
		return leaderboard.Outcome{}, fmt.Errorf("redis: %s: %w: the member's entry is damaged", sc.name, errReply)
	}
	return leaderboard.Outcome{Before: level.XP(before), After: level.XP(after), MessageCount: count}, nil
}

// noteChanged puts the guild into the index when a script said that its change is the first that waits for a snapshot.
// The change is made by then, so it is neither undone by the caller's context nor reported as failed: a guild that is
// missing from the index is found when the writer sweeps the loaded guilds.
func (s *Store) noteChanged(ctx context.Context, g id.Guild, first any) {
	if first == int64(1) {
		s.index(context.WithoutCancel(ctx), []any{string(g)})
	}
}

// cooldownMillis rounds up, so that a positive cooldown never becomes none.
func cooldownMillis(d time.Duration) int64 {
	return (max(d, 0) + time.Millisecond - 1).Milliseconds()
}

func checkXP(xp level.XP) error {
	if xp < 0 || xp > level.MaxXP {
		return fmt.Errorf("%d is not an amount of XP", xp)
	}
	return nil
}
