package redisstore

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
)

//go:embed *.lua prelude/*.lua
var scriptFiles embed.FS

// format numbers the layout of a guild's keys. Scripts neither use nor load a guild in another format (begin_hydration.lua). Raise it when
// scripts that know only the format before would misread a key.
const format = 1

// constants begins every script. SERVER is the value of meta's `server` for a guild that is verified on this server, and FROZEN for a frozen
// one (freeze.lua).
var constants = fmt.Sprintf("local SERVER, FROZEN, FORMAT, MAX_XP, KEPT_EVENTS = '%[1]s-f%[2]d', '%[1]s-f%[2]d!', '%[2]d', %[3]d, %[4]d\n",
	redisconn.ServerMark, format, level.MaxXP, events.KeptEvents)

// newScript makes a script of the named file and the files of prelude that it uses, in their order. It panics if a file is missing: that is a
// mistake in this package, and shows at the start.
func newScript(name string, prelude ...string) *redisconn.Script {
	return makeScript(name, redisconn.ScriptOptions{}, prelude)
}

func makeScript(name string, o redisconn.ScriptOptions, prelude []string) *redisconn.Script {
	var text strings.Builder
	text.WriteString(constants)
	for _, file := range prelude {
		text.WriteString(readScript("prelude/" + file))
	}
	text.WriteString(readScript(name))
	return redisconn.NewScript(name, text.String(), o)
}

func readScript(name string) string {
	text, err := scriptFiles.ReadFile(name + ".lua")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// refusals are the words that a script answers instead of an array when it did nothing.
var refusals = map[redisconn.Refusal]error{
	"NOTLOADED":     leaderboard.ErrNotLoaded,
	"NOMEMBER":      leaderboard.ErrNoMember,
	"NOTPRESENT":    leaderboard.ErrNotPresent,
	"EXISTS":        leaderboard.ErrMemberExists,
	"KEYREUSED":     leaderboard.ErrKeyReused,
	"NOBOARD":       leaderboard.ErrNoBoard,
	"HYDRATIONLOST": hydrate.ErrLost,
}

// wrap names the operation; nil stays nil.
func wrap(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis: %s: %w", operation, err)
}

// known maps an error of redisconn to the use cases' error.
func known(err error) error {
	var word redisconn.Refusal
	if errors.As(err, &word) {
		if epoch, asks := strings.CutPrefix(string(word), "ASKARCHIVE "); asks {
			n, bad := strconv.ParseInt(epoch, 10, 64)
			return cmp.Or(bad, error(leaderboard.AskArchive{Epoch: n}))
		}
		if refusals[word] != nil {
			return refusals[word]
		}
	}
	if errors.Is(err, redisconn.ErrNotReplicated) {
		return fmt.Errorf("%w: %w", leaderboard.ErrNotReplicated, err)
	}
	return err
}

// run runs a script and returns its array. Each refusal is an error of refusals. After any other error the script may have run.
func (s *Store) run(ctx context.Context, sc *redisconn.Script, keys []string, args ...any) (reply, error) {
	c := redisconn.Call{Script: sc, Keys: keys, Args: args}
	err := s.client.Run(ctx, &c)
	return newReply(c.Reply), known(err)
}

// onEach runs a script for each guild, many in a round trip, and calls take with each guild's answer or error. The first error of take ends it.
// It skips the guilds of servers that do not respond, and returns these servers' errors in the end.
func (s *Store) onEach(ctx context.Context, sc *redisconn.Script, guilds []id.Guild, keys func(guildKeys) []string, take func(id.Guild, reply, error) error, args ...any) error {
	calls := make([]*redisconn.Call, len(guilds))
	for i, g := range guilds {
		calls[i] = &redisconn.Call{Script: sc, Keys: keys(keysOf(g)), Args: args}
	}
	s.client.RunEach(ctx, calls)
	unasked := distinctErrors{}
	for i, c := range calls {
		if redisconn.Unanswered(c.Err) {
			unasked.add(c.Err)
		} else if err := take(guilds[i], newReply(c.Reply), known(c.Err)); err != nil {
			return fmt.Errorf("redis: %s: %w", sc.Name(), err)
		}
	}
	return unasked.join()
}

// distinctErrors are the errors of many guilds, each once: guilds of one server share theirs.
type distinctErrors map[string]error

func (d distinctErrors) add(err error) { d[err.Error()] = err }

// join returns nil without errors.
func (d distinctErrors) join() error { return errors.Join(slices.Collect(maps.Values(d))...) }
