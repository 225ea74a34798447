// Package award computes the XP of a message by the rules of its guild. It knows
// no time and no stores: the live store applies the cooldown and the maximum XP.
package award

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Uncounted is returned as the XP of a message that is not counted.
const Uncounted level.XP = -1

// Message holds what the rules use of a message.
type Message struct {
	UserID  id.User
	Channel id.Channel
	Parent  id.Channel // of the channel; empty if there is none
	Roles   []id.Role  // of the author
}

// Rules are a guild's rules, prepared for XP. They do not change and are safe for concurrent use.
type Rules struct {
	least, most int // XP before the multipliers, both included
	global      factor
	channels    map[id.Channel]factor
	roles       map[id.Role]factor
	noChannels  map[id.Channel]bool
	noRoles     map[id.Role]bool
	noUsers     map[id.User]bool
}

// NewRules prepares the rules of valid settings. If several multipliers name the same channel or role, the largest counts.
func NewRules(s *guild.Settings) *Rules {
	r := &Rules{
		least: s.XPPerMessageMin, most: s.XPPerMessageMax, global: factorOf(s.XPGlobalMultiplier),
		channels: map[id.Channel]factor{}, roles: map[id.Role]factor{},
		noChannels: set(s.IgnoredChannelIDs), noRoles: set(s.IgnoredRoleIDs), noUsers: set(s.IgnoredUserIDs),
	}
	for _, m := range s.Multipliers {
		f := factorOf(m.Multiplier)
		for _, c := range m.Channels {
			r.channels[c.ID] = largest(r.channels, c.ID, f)
		}
		for _, role := range m.Roles {
			r.roles[role.ID] = largest(r.roles, role.ID, f)
		}
	}
	return r
}

func set[T comparable](list []T) map[T]bool {
	all := make(map[T]bool, len(list))
	for _, v := range list {
		all[v] = true
	}
	return all
}

func largest[T comparable](known map[T]factor, key T, f factor) factor {
	if other, ok := known[key]; ok && other.value > f.value {
		return other
	}
	return f
}

// XP returns the XP of the message: floor(random * global * channel * role). random is a whole number from the guild's minimum to its
// maximum. channel is the multiplier of the message's channel, or else of its parent. role is the largest multiplier of the author's
// roles. The result is at least 1, but 0 if a multiplier is 0, and Uncounted if the author, the channel, its parent or one of the
// roles is ignored. random(n) must return a uniform whole number from 0 to n-1. XP calls it once, and only if the message is worth XP.
func (r *Rules) XP(m Message, random func(n int) int) level.XP {
	if r.noUsers[m.UserID] || r.noChannels[m.Channel] || m.Parent != "" && r.noChannels[m.Parent] {
		return Uncounted
	}
	role, matched := one, false
	for _, has := range m.Roles {
		if r.noRoles[has] {
			return Uncounted
		}
		if f, ok := r.roles[has]; ok && (!matched || f.value > role.value) {
			role, matched = f, true
		}
	}
	channel, ok := r.channels[m.Channel]
	if !ok && m.Parent != "" {
		channel, ok = r.channels[m.Parent]
	}
	if !ok {
		channel = one
	}
	if r.global.value == 0 || channel.value == 0 || role.value == 0 {
		return 0
	}
	drawn := r.least + random(r.most-r.least+1)
	return max(scale(drawn, r.global, channel, role), 1)
}

// factor is a multiplier from 0 to 5: the shortest decimal that reads as value. It multiplies exactly: 20 times 1.15 is 23.
type factor struct {
	value    float64
	millions uint64 // value * 1,000,000 when that is a whole number
	exact    bool   // value * 1,000,000 is a whole number
}

const million = 1_000_000

var one = factorOf(1)

func factorOf(value float64) factor {
	millions := math.Round(value * million)
	return factor{value: value, millions: uint64(millions), exact: millions/million == value}
}

// scale returns floor(n * a * b * c), exactly, for n from 0 to 1000.
func scale(n int, a, b, c factor) level.XP {
	if a.exact && b.exact && c.exact {
		// The product is at most 1000 * 5^3 * 10^18, which has 77 bits. Without the last factor it is at most 2.5 * 10^16.
		high, low := bits.Mul64(uint64(n)*a.millions*b.millions, c.millions)
		quotient, _ := bits.Div64(high, low, million*million*million)
		return level.XP(quotient)
	}
	product := new(big.Rat).SetInt64(int64(n))
	for _, f := range []factor{a, b, c} {
		decimal, ok := new(big.Rat).SetString(strconv.FormatFloat(f.value, 'g', -1, 64))
		if !ok {
			return 0 // NaN, which no valid setting has
		}
		product.Mul(product, decimal)
	}
	return level.XP(new(big.Int).Quo(product.Num(), product.Denom()).Int64())
}
