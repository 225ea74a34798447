package redisstore

import (
	"encoding/base64"
	"strconv"
	"strings"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/signin"
)

// Names that belong to no guild.
const (
	dirtyGuildsKey  = "lb:dirty-guilds"
	lastSnapshotKey = "lb:last-snapshot"
	changesChannel  = "lb:changes"
	claimPrefix     = "lb:once:"
	sessionPrefix   = "lb:session:"
)

// Every key of a guild is keyPrefix + id + keySuffix + a name. The braces are the hash tag that puts all of a guild's keys
// into one slot of a cluster, so that one script may touch them together.
const (
	keyPrefix     = "lb:{"
	keySuffix     = "}:"
	metaName      = "meta"
	loadedPattern = keyPrefix + "*" + keySuffix + metaName
)

// guildKeys makes the names of one guild's keys; docs/redis-keys.md says what each holds.
type guildKeys string

func keysOf(g id.Guild) guildKeys {
	return guildKeys(keyPrefix + string(g) + keySuffix)
}

func (k guildKeys) name(s string) string { return string(k) + s }

func (k guildKeys) meta() string  { return k.name(metaName) }
func (k guildKeys) xp() string    { return k.name("xp") }
func (k guildKeys) entry() string { return k.name("entry") }
func (k guildKeys) dirty() string { return k.name("dirty") }
func (k guildKeys) lock() string  { return k.name("hydrating") }

// once is where the request that was made under a key is recorded.
func (k guildKeys) once(key leaderboard.Digest) string { return k.name("once:") + digestText(key) }

// claimKey names the guild that the request under a key is about, in a slot of its own.
func claimKey(key leaderboard.Digest) string { return claimPrefix + digestText(key) }

func digestText(d leaderboard.Digest) string { return base64.RawURLEncoding.EncodeToString(d[:]) }

// sessionKey is where a session is sealed, sessionClaimKey is there while one replica changes it, and sessionsKey lists those
// of a user.
func sessionKey(h signin.Hash) string      { return sessionPrefix + hashText(h) }
func sessionClaimKey(h signin.Hash) string { return "lb:session-claim:" + hashText(h) }
func sessionsKey(user id.User) string      { return "lb:sessions:" + string(user) }

// flushingPrefix is what the number of a flush is appended to; a script does that where only it knows the number.
func (k guildKeys) flushingPrefix() string { return k.name("flushing:") }

func (k guildKeys) flushing(flush int64) string {
	return k.flushingPrefix() + strconv.FormatInt(flush, 10)
}

// events is the log of events of one incarnation, so that another one never shows them.
func (k guildKeys) events(incarnation guild.Incarnation) string {
	return k.name("events:") + strconv.FormatInt(int64(incarnation), 10)
}

// members are the keys of the scripts on members, in the order that all of them know.
func (k guildKeys) members() []string {
	return []string{k.meta(), k.xp(), k.entry(), k.dirty()}
}

// changes are the keys of the scripts that change members.
func (k guildKeys) changes(incarnation guild.Incarnation) []string {
	return append(k.members(), k.events(incarnation))
}

// former are the keys of the format before, which held what is in entry now: stat, user.
func (k guildKeys) former() []string { return []string{k.name("stat"), k.name("user")} }

// staging are the keys that a hydration loads into: xp, entry.
func (k guildKeys) staging(token string) []string {
	prefix := k.name("load:") + token
	return []string{prefix + ":xp", prefix + ":entry"}
}

// guildOfMeta returns the guild whose meta key this is.
func guildOfMeta(key string) (id.Guild, bool) {
	s, ok := strings.CutPrefix(key, keyPrefix)
	if !ok {
		return "", false
	}
	s, ok = strings.CutSuffix(s, keySuffix+metaName)
	if !ok {
		return "", false
	}
	g, err := id.Parse[id.Guild](s)
	return g, err == nil
}
