package httpapi

import (
	"context"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/ratelimit"
)

const benchGuild = "100000000000000001"

// instant knows one key and one guild, and has no limits.
type instant struct {
	Board
	key   *apikey.Key
	guild *guild.Guild
}

func (d *instant) Authenticate(context.Context, string) (*apikey.Key, error) { return d.key, nil }
func (d *instant) InMemory(string) bool                                      { return true }
func (d *instant) Recheck(context.Context, string) (*apikey.Key, error)      { return d.key, nil }

func (d *instant) Peek(context.Context, ratelimit.Budget) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true}, nil
}

func (d *instant) Charge(context.Context, ...ratelimit.Budget) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true, Scope: ratelimit.ScopeKey, Limit: 100000000, Remaining: 99876543, Reset: time.Second}, nil
}

func (d *instant) ByID(context.Context, id.Guild) (*guild.Guild, error)   { return d.guild, nil }
func (d *instant) ByVanity(context.Context, string) (*guild.Guild, error) { return d.guild, nil }

func benchCurve(b testing.TB) level.Curve {
	b.Helper()
	c, err := level.NewCurve([]float64{150, -100, 50})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
