package redisstore

import (
	"context"
	"crypto/sha1" // #nosec G505 -- a short name of a server, kept from nobody
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

//go:embed scripts
var scriptFiles embed.FS

// script is a Lua script: the shared pieces that it uses and its own file, in one text.
type script struct {
	name string
	text string
}

// scripts are all scripts, which every server is given.
var scripts []*script

var (
	pageScript   = newScript("page", "loaded", "values")
	createScript = newScript("create", "loaded", "once", "now", "note", "append", "event", "levelup")
	changeScript = newScript("change", changePieces...)
	awardScript  = newScript("award", "loaded", "once", "now", "score", "parts", "note", "append", "event", "levelup")
	deleteScript = newScript("delete", "loaded", "once", "now", "note")
	eventsScript = newScript("events", "loaded", "now")
	claimScript  = newScript("claim")
	fenceScript  = newScript("fence")
	viewScript   = newScript("view", "loaded", "values", "ranked")

	beginFlushScript = newScript("begin_flush")
	readBatchScript  = newScript("read_batch", "epoch", "put", "values", "entries")
	archivedScript   = newScript("archived", "epoch", "put", "archive")
	endFlushScript   = newScript("end_flush", "epoch")
	distrustScript   = newScript("distrust", "epoch")
	noteAnewScript   = newScript("note_anew", "epoch", "now")
	lowerScript      = newScript("lower_archived", "epoch")
	lastScript       = newScript("last")

	evictScript = newScript("evict", "epoch", "now", "put", "cold")

	beginHydrationScript  = newScript("begin_hydration")
	unsavedScript         = newScript("unsaved", "locked", "values", "entries")
	verifiedScript        = newScript("verified", "locked")
	loadChunkScript       = newScript("load_chunk", "locked")
	commitHydrationScript = newScript("commit_hydration", "locked", "now", "append")
	abortHydrationScript  = newScript("abort_hydration")
	dropScript            = newScript("drop")

	// For several guilds in one run.
	eachMembersScript = newEachScript("members", "loaded", "ranked")
	eachVersionScript = newEachScript("version", "loaded")
	eachChangeScript  = newEachScript("change", changePieces...)
	readChangesScript = newEachScript("read_changes", "put", "values", "entries")
	endChangesScript  = newEachScript("end_changes", "epoch", "put", "archive")
	backlogScript     = newEachScript("backlog", "now")
	surveyScript      = newEachScript("survey", "now", "put", "cold")
	usedScript        = newEachScript("used", "now", "put")
)

var changePieces = []string{"loaded", "once", "now", "note", "score", "parts", "append", "event", "levelup"}

// newScript puts the shared pieces, in their order, before the script of that name. A missing file is a mistake in this
// package, so it panics before anything runs.
func newScript(name string, shared ...string) *script {
	return addScript(script{name: name, text: pieces(shared) + readScript("scripts/"+name+".lua")})
}

// newEachScript makes the script run for several guilds (each.lua); together makes what it takes.
func newEachScript(name string, shared ...string) *script {
	text := strings.Replace(readScript("scripts/shared/each.lua"), "-- PIECES\n", pieces(shared), 1)
	text = strings.Replace(text, "-- SCRIPT\n", readScript("scripts/"+name+".lua"), 1)
	return addScript(script{name: name, text: text})
}

func addScript(sc script) *script {
	scripts = append(scripts, &sc)
	return &sc
}

func pieces(names []string) string {
	var text strings.Builder
	for _, name := range names {
		text.WriteString(readScript("scripts/shared/" + name + ".lua"))
	}
	return text.String()
}

// format is of what a guild's keys hold. A guild is loaded in one format and used by the scripts of that format only: for all
// others it is as if it had not been verified. One in an earlier format is loaded anew, after its unsaved members were copied to
// the archive (begin_hydration.lua, unsaved.lua); one in a later format is left alone. Raise it when scripts that know only the
// format before would misread a key, and teach unsaved.lua to read that format.
//
//	1: stat and user, a hash each, and no number in meta
//	2: entry
const format = 2

// textFor is the script as it is loaded on the server of that identity, which it can compare with what meta says. The identity
// is told by its digest: with a value of more than 64 bytes in it, a meta would take Redis four times the memory.
func (sc *script) textFor(identity string) string {
	return fmt.Sprintf("local SERVER, FORMAT = '%x-f%d', %d\n%s", sha1.Sum([]byte(identity)), format, format, sc.text) // #nosec G401
}

func readScript(path string) string {
	text, err := scriptFiles.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// refusals are the words that a script answers instead of an array when it did nothing.
var refusals = map[string]error{
	"NOTLOADED":     leaderboard.ErrNotLoaded,
	"NOMEMBER":      leaderboard.ErrNoMember,
	"EXISTS":        leaderboard.ErrMemberExists,
	"KEYREUSED":     leaderboard.ErrKeyReused,
	"CLAIMLOST":     errClaimLost,
	"HYDRATIONLOST": snapshot.ErrHydrationLost,
	"STALE":         snapshot.ErrStale,
}

// refusalWord is what the script answered in place of doing anything, which is no failure.
func refusalWord(err error) string {
	if err == nil {
		return ""
	}
	for word, refusal := range refusals {
		if errors.Is(err, refusal) {
			return word
		}
	}
	return ""
}

var errReply = errors.New("unexpected reply")

// run runs a script once and returns its array. A refusal is returned as it is; any other error is wrapped with the
// script's name, and then the script may have run and may not. Only what says that nothing ran is followed by a repetition: NOSCRIPT,
// and a cluster's words for where its slot is (directionOf). With ErrNotReplicated there is a reply too.
func (s *Store) run(ctx context.Context, sc *script, keys []string, args ...any) (reply, error) {
	start := time.Now()
	v, err := s.eval(ctx, sc, keys, args)
	unsafe := err
	if errors.Is(err, leaderboard.ErrNotReplicated) {
		err = nil
	}
	r, err := sc.result(v, err)
	if err == nil && unsafe != nil {
		err = fmt.Errorf("redis: %s: %w", sc.name, unsafe)
	}
	if s.observe != nil {
		s.observe(sc.name, time.Since(start), err)
	}
	if s.trace != nil {
		s.trace(ctx, sc.name, start, err)
	}
	return r, err
}

// eval sends a script to the node that holds its keys. With ErrNotReplicated there is a value too.
func (s *Store) eval(ctx context.Context, sc *script, keys []string, args []any) (v any, err error) {
	err = s.client.onNodeOf(ctx, keys[0], func(ctx context.Context, n *node, asking bool) error {
		return n.onServer(ctx, func(on *server) (err error) {
			cmd := evalSHA(ctx, on.digests[sc], keys, args)
			if waiting := s.wait.of(sc); waiting != nil {
				err = waiting.run(ctx, n, cmd, asking)
			} else {
				err = n.processAsking(ctx, cmd, asking)
			}
			v = cmd.Val()
			return err
		})
	})
	return v, err
}

func (sc *script) result(v any, err error) (reply, error) {
	if err != nil {
		return nil, fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	switch v := v.(type) {
	case []any:
		return v, nil
	case string:
		if refusal, ok := refusals[v]; ok {
			return nil, refusal
		}
	}
	return nil, fmt.Errorf("redis: %s: %w", sc.name, errReply)
}
