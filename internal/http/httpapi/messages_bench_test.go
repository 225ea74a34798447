package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// busyBody is a body of n messages such as a bot sends them: of about 180 bytes, one in four with user data.
func busyBody(n int) []byte {
	var body strings.Builder
	body.WriteString(`{"messages":[`)
	for i := range n {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"userId":"%018d","channelId":"%018d","parentChannelId":"300000000000000001","roleIds":["400000000000000001","400000000000000002"]`,
			100000000000000000+i*7919%100003, 200000000000000000+i%40)
		if i%4 == 0 {
			fmt.Fprintf(&body, `,"user":{"avatar":"0123456789abcdef0123456789abcdef","discriminator":"0","username":"ada%d","globalName":"Ada Løvelace"}`, i)
		}
		body.WriteByte('}')
	}
	body.WriteString(`]}`)
	return []byte(body.String())
}

var readers = map[string]func([]byte) ([]leaderboard.Message, error){"plain": readMessages, "strictjson": decodeMessages}

func BenchmarkReadMessages(b *testing.B) {
	for _, reader := range []string{"plain", "strictjson"} {
		for _, n := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", reader, n), func(b *testing.B) {
				sent := busyBody(n)
				b.SetBytes(int64(len(sent)))
				perMessage(b, n, func() {
					if _, err := readers[reader](sent); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

func BenchmarkEncodeResults(b *testing.B) {
	g := &guild.Guild{Settings: guild.Settings{RoleRewards: []guild.RoleReward{
		{Level: 1, Stack: true, Roles: []guild.Role{{ID: "400000000000000001"}}}, {Level: 5, Roles: []guild.Role{{ID: "400000000000000002"}}},
	}}}
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			gains := make([]leaderboard.Gain, n)
			for i := range gains {
				gains[i] = leaderboard.Gain{
					UserID: id.User(fmt.Sprintf("%018d", 100000000000000000+i)), Gained: 20, XP: level.XP(1000 + i), MessageCount: int64(i), Level: level.Level(i % 100), LeveledUp: i%50 == 0,
				}
			}
			perMessage(b, n, func() {
				if _, err := encode(resultsBody(g, gains)); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// perMessage reports what one message of n costs.
func perMessage(b *testing.B, n int, do func()) {
	b.ReportAllocs()
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/message")
}
