package redisconn

import (
	"crypto/sha1" // #nosec G505 -- for a server's short name, which is no secret, and for the digest that EVALSHA takes
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Script is a Lua script, which is loaded into each server before it first runs there. It returns an array, or, when it did nothing, a
// string, which callers get as a Refusal.
type Script struct {
	name string
	text string
	ScriptOptions
}

// ScriptOptions say how a script may be run.
type ScriptOptions struct {
	// Waits makes its callers wait for replicas, as the client's Waiting says.
	Waits bool
	// AllowOOM lets the script write while the server's memory is full. It is for scripts that free memory in the end.
	AllowOOM bool
}

// ServerMark stands in a script's text for the identity of the server's current life.
const ServerMark = "<server>"

// scripts lists all scripts.
var scripts []*Script

// NewScript makes a script. It must not be called after a client was made, so it is for package variables.
func NewScript(name, text string, o ScriptOptions) *Script {
	sc := &Script{name: name, text: text, ScriptOptions: o}
	scripts = append(scripts, sc)
	return sc
}

// Name returns the script's name.
func (sc *Script) Name() string { return sc.name }

// textFor returns the script's text for that server. Its digest exists on no other server (ADR 6).
// The identity is hashed: with a value of more than 64 bytes, a guild's meta would take Redis four times the memory.
func (sc *Script) textFor(on *server) string {
	text := strings.ReplaceAll(sc.text, ServerMark, digest(on.identity))
	if sc.AllowOOM && !on.embedded {
		text = "#!lua flags=allow-oom\n" + text
	}
	return text
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text)) // #nosec G401
	return hex.EncodeToString(sum[:])
}

// Refusal is the string that a script returns when it did nothing. It is a redis.Error.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// RedisError implements redis.Error.
func (Refusal) RedisError() {}

// refusalWord returns the script's word if the error is a refusal.
func refusalWord(err error) string {
	var word Refusal
	_ = errors.As(err, &word)
	return string(word)
}

var errReply = errors.New("unexpected reply")

// result reads the reply of a run of the script.
func (sc *Script) result(v any, err error) ([]any, error) {
	switch v := v.(type) {
	case []any:
		if err == nil {
			return v, nil
		}
	case string:
		if err == nil {
			return nil, Refusal(v)
		}
	}
	if err == nil {
		err = errReply
	}
	return nil, fmt.Errorf("redis: %s: %w", sc.name, err)
}
