package loadgen

import (
	"fmt"
	"strconv"
)

// Ids that belong to a message. None is one of an account, a channel or a role before the year 2083.
const (
	firstChannel  = 9_200_000_000_000_000_000
	firstCategory = 9_205_000_000_000_000_000
	firstRole     = 9_210_000_000_000_000_000
)

const (
	roles    = 50
	mostHeld = 6 // roles of one member, less one
	// gainInterval is the guild's cooldown in ms: the shortest there is, because a load sends a day's messages in a minute.
	gainInterval = 10_000
	// maxGain is what a message gives at most by messageRules: 40 * 2 * 1.25.
	maxGain = 100
)

// fillRules give each message that makes a member a number of XP from 5 to 5000.
func fillRules() map[string]any {
	return map[string]any{"xpGainInterval": gainInterval, "xpPerMessageMin": 1, "xpPerMessageMax": 1000, "xpGlobalMultiplier": 5}
}

// messageRules are the settings while messages are sent: everything that a message has to be checked against.
func messageRules() map[string]any {
	channel := func(first, n int) map[string]any {
		return map[string]any{"id": strconv.Itoa(first + n), "name": fmt.Sprint("channel ", n), "parentId": nil, "position": n, "type": 0}
	}
	role := func(n int) map[string]any {
		return map[string]any{"id": strconv.Itoa(firstRole + n), "name": fmt.Sprint("role ", n), "color": nil, "position": n}
	}
	var rewards []any
	for i := range 10 {
		rewards = append(rewards, map[string]any{"level": 5 * (i + 1), "stack": i%2 == 0, "roles": []any{role(40 + i)}})
	}
	return map[string]any{
		"xpGainInterval":    gainInterval,
		"ignoredChannelIds": []string{strconv.Itoa(firstChannel + 7)},
		"ignoredRoleIds":    []string{strconv.Itoa(firstRole + 30)},
		"multipliers": []any{
			map[string]any{"type": "Channel", "multiplier": 2, "targets": []any{channel(firstChannel, 3), channel(firstChannel, 12)}},
			map[string]any{"type": "Channel", "multiplier": 1.5, "targets": []any{channel(firstCategory, 4)}},
			map[string]any{"type": "Role", "multiplier": 1.25, "targets": []any{role(1), role(2)}},
			map[string]any{"type": "Role", "multiplier": 0.5, "targets": []any{role(3)}},
		},
		"roleRewards": rewards,
	}
}

// appendCall appends the body of a call.
func appendCall(b []byte, call []spoken) []byte {
	b = append(b, `{"messages":[`...)
	for i, said := range call {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, said)
	}
	return append(b, `]}`...)
}

func appendMessage(b []byte, said spoken) []byte {
	b = fmt.Appendf(b, `{"userId":"%d","channelId":"%d",`, firstUser+said.member, firstChannel+said.channel)
	if said.channel%5 > 0 { // the others are in no category
		b = fmt.Appendf(b, `"parentChannelId":"%d",`, firstCategory+said.channel%categories)
	}
	b = append(b, `"roleIds":[`...)
	mixed := mix64(said.member) // a member's roles are always the same
	for i := range mixed >> 32 % mostHeld {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `"%d"`, firstRole+int((mixed>>40+7*i)%roles))
	}
	b = append(b, ']')
	if said.data != dataAbsent {
		b = fmt.Appendf(b, `,"user":{"avatar":"%032x","discriminator":"0","globalName":"Bench Member %d-%d","username":"bench.member.%06d"}`,
			mixed, said.member, said.data, said.member)
	}
	return append(b, '}')
}

// mix64 is a number that looks random, always the same for a member.
func mix64(member int) uint64 { return uint64(member+1) * 0x9E3779B97F4A7C15 }
