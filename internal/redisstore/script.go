package redisstore

import (
	"context"
	"crypto/sha1" // #nosec G505 -- the digest that EVALSHA names a script by
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

//go:embed scripts
var scriptFiles embed.FS

// script is a Lua script: the shared pieces that it uses and its own file, in one text.
type script struct {
	name string
	text string
	sha  string
}

var (
	memberScript = newScript("member", "loaded")
	pageScript   = newScript("page", "loaded", "hmget")
	createScript = newScript("create", "loaded", "now", "touch")
	changeScript = newScript("change", "loaded", "now", "touch", "score")
	deleteScript = newScript("delete", "loaded", "touch")

	beginFlushScript = newScript("begin_flush")
	readBatchScript  = newScript("read_batch", "loaded", "epoch", "hmget")
	archivedScript   = newScript("archived", "loaded", "epoch")
	endFlushScript   = newScript("end_flush", "loaded", "epoch")

	beginHydrationScript  = newScript("begin_hydration")
	loadChunkScript       = newScript("load_chunk", "locked")
	commitHydrationScript = newScript("commit_hydration", "locked")
	abortHydrationScript  = newScript("abort_hydration")
	dropScript            = newScript("drop")
)

// newScript puts the shared pieces, in their order, before the script of that name. A missing file is a mistake in this
// package, so it panics before anything runs.
func newScript(name string, shared ...string) *script {
	var text strings.Builder
	for _, piece := range shared {
		text.WriteString(readScript("scripts/shared/" + piece + ".lua"))
	}
	text.WriteString(readScript("scripts/" + name + ".lua"))
	sum := sha1.Sum([]byte(text.String())) // #nosec G401
	return &script{name: name, text: text.String(), sha: hex.EncodeToString(sum[:])}
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
	"HYDRATIONLOST": snapshot.ErrHydrationLost,
}

var errReply = errors.New("unexpected reply")

// run runs a script once and returns its array. A refusal is returned as it is; any other error is wrapped with the
// script's name, and then the script may have run and may not. Only NOSCRIPT, which says that nothing ran, is repeated.
func (s *Store) run(ctx context.Context, sc *script, keys []string, args ...any) (reply, error) {
	start := time.Now()
	v, err := s.evalSHA(ctx, sc, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = s.client.ScriptLoad(ctx, sc.text).Err(); err == nil {
			v, err = s.evalSHA(ctx, sc, keys, args)
		}
	}
	r, err := sc.result(v, err)
	if s.observe != nil {
		s.observe(sc.name, time.Since(start), err)
	}
	return r, err
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

func (s *Store) evalSHA(ctx context.Context, sc *script, keys []string, args []any) (any, error) {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, "evalsha", sc.sha, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	cmd := once{redis.NewCmd(ctx, append(words, args...)...)}
	cmd.SetFirstKeyPos(3)
	if err := s.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}

// once is a command that no kind of client sends again by itself, whatever its options say. A reply that was lost does
// not tell whether the script ran, so sending it again could apply a change twice.
type once struct{ *redis.Cmd }

// NoRetry is what go-redis asks before it repeats a command.
func (once) NoRetry() bool { return true }
