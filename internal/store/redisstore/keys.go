package redisstore

import (
	"encoding/base64"
	"strconv"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/signin"
)

// Names that belong to no guild.
const (
	changedKey     = "lb:changed-guilds"
	eventfulKey    = "lb:eventful-guilds"
	changesChannel = "lb:changes"
	sessionPrefix  = "lb:session:"
	sessionsPrefix = "lb:sessions:"
)

// Every key of a guild is keyPrefix + id + keySuffix + a name. The braces are the hash tag that puts all of a guild's keys
// into one slot of a cluster, so that one script may touch them together.
const (
	keyPrefix     = "lb:{"
	keySuffix     = "}:"
	metaName      = "meta"
	xpName        = "xp"
	offName       = "off"
	entryName     = "entry"
	dirtyName     = "dirty"
	journalName   = "journal"
	onceName      = "once:" // and the name of the request
	evictedName   = "evicted"
	hiddenName    = "hidden"
	dayName       = "gain:day"
	weekName      = "gain:week"
	monthName     = "gain:month"
	seasonName    = "gain:season"
	loadedPattern = keyPrefix + "*" + keySuffix + metaName
)

// guildKeys makes the names of one guild's keys; docs/redis-keys.md says what each holds.
type guildKeys id.Guild

func keysOf(g id.Guild) guildKeys { return guildKeys(g) }

func (k guildKeys) name(s string) string { return keyPrefix + string(k) + keySuffix + s }

func (k guildKeys) meta() string   { return k.name(metaName) }
func (k guildKeys) xp() string     { return k.name(xpName) }
func (k guildKeys) off() string    { return k.name(offName) }
func (k guildKeys) entry() string  { return k.name(entryName) }
func (k guildKeys) dirty() string  { return k.name(dirtyName) }
func (k guildKeys) hidden() string { return k.name(hiddenName) }
func (k guildKeys) lock() string   { return k.name("hydrating") }

// once is the record of a named request; journal holds the records that are not archived yet. evicted says that a guild left this server with all
// its records.
func (k guildKeys) once(name string) string { return k.name(onceName + name) }
func (k guildKeys) journal() string         { return k.name(journalName) }
func (k guildKeys) evicted() string         { return k.name(evictedName) }

func digestText(d leaderboard.Digest) string { return base64.RawURLEncoding.EncodeToString(d[:]) }

// sessionKey holds a sealed session, sessionClaimKey exists while a replica changes the session, and sessionsKey lists a user's sessions.
func sessionKey(h signin.Hash) string      { return sessionPrefix + hashText(h) }
func sessionClaimKey(h signin.Hash) string { return "lb:session-claim:" + hashText(h) }
func sessionsKey(user id.User) string      { return sessionsPrefix + string(user) }

// events is the log of events of one incarnation, so that another one never shows them.
func (k guildKeys) events(incarnation guild.Incarnation) string {
	return k.name(eventsName(incarnation))
}

func eventsName(incarnation guild.Incarnation) string {
	return string(strconv.AppendInt([]byte("events:"), int64(incarnation), 10))
}

// board returns the keys of the scripts that read a board, members those of all data about members.
func (k guildKeys) board() []string { return k.names(metaName, xpName, entryName) }
func (k guildKeys) members() []string {
	return k.names(xpName, offName, entryName, dayName, weekName, monthName, seasonName)
}

// changes returns the keys of the scripts that change members (prelude/request.lua), for a request with a name or without (""). counted adds the
// boards of periods.
func (k guildKeys) changes(incarnation guild.Incarnation, name string, counted bool) []string {
	events, once := eventsName(incarnation), onceName+name
	if counted {
		return k.names(metaName, xpName, offName, entryName, dirtyName, events, journalName, once, hiddenName, dayName, weekName, monthName, seasonName)
	}
	return k.names(metaName, xpName, offName, entryName, dirtyName, events, journalName, once, hiddenName)
}

// gains returns the boards of the running day, week, month and season.
func (k guildKeys) gains() []string { return k.names(dayName, weekName, monthName, seasonName) }

// names makes all names with one allocation, because each request for many boards makes them.
func (k guildKeys) names(suffixes ...string) []string {
	const usual = 500 // bytes, which fit on the stack
	text, names := make([]byte, 0, usual), make([]string, len(suffixes))
	for _, s := range suffixes {
		text = append(append(append(append(text, keyPrefix...), k...), keySuffix...), s...)
	}
	all := string(text)
	for i, s := range suffixes {
		end := len(keyPrefix) + len(k) + len(keySuffix) + len(s)
		names[i], all = all[:end], all[end:]
	}
	return names
}

// staging returns the keys that a hydration loads into, in the order of members.
func (k guildKeys) staging(token string) []string {
	prefix := k.name("load:") + token
	return []string{prefix + ":xp", prefix + ":off", prefix + ":entry", prefix + ":day", prefix + ":week", prefix + ":month", prefix + ":season"}
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
