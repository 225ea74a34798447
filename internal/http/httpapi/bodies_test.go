package httpapi

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// memberJSON is a member as encoding/json reads and writes it.
type memberJSON struct {
	Level struct {
		LastUpdated  *string     `json:"lastUpdated"`
		Level        level.Level `json:"level"`
		MessageCount int64       `json:"messageCount"`
		Rank         int64       `json:"rank"`
		XP           level.XP    `json:"xp"`
	} `json:"level"`
	User user `json:"user"`
}

// Whatever a member is called, the answer is what the encoder makes of it.
func TestAMemberIsWhatTheEncoderWrites(t *testing.T) {
	g := &guild.Guild{Settings: guild.Settings{Curve: benchCurve(t)}}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"quoted" \ and </script>`, "\x00\n\u2028\ufffd", "ИВАН 🎉", "\xff not UTF-8 \xc3"}))
	rapid.Check(t, func(t *rapid.T) {
		m := leaderboard.Ranked{Rank: rapid.Int64Min(1).Draw(t, "rank"), Member: leaderboard.Member{
			XP: level.XP(rapid.Int32Min(0).Draw(t, "xp")), MessageCount: rapid.Int64Min(0).Draw(t, "count"),
			User: leaderboard.User{
				Avatar: rapid.Ptr(text, true).Draw(t, "avatar"), Discriminator: text.Draw(t, "discriminator"),
				GlobalName: rapid.Ptr(text, true).Draw(t, "globalName"), Username: text.Draw(t, "username"),
			},
		}}
		if rapid.Bool().Draw(t, "known time") {
			m.LastUpdated = time.UnixMilli(rapid.Int64Range(1, 4e12).Draw(t, "time"))
		}
		var want memberJSON
		want.Level.LastUpdated, want.Level.Level = timestamp(m.LastUpdated), g.Curve.LevelAt(m.XP)
		want.Level.MessageCount, want.Level.Rank, want.Level.XP = m.MessageCount, m.Rank, m.XP
		want.User = userBody(m.User)
		encoded, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		if err := json.Unmarshal(encodeMember(g, m), &got); err != nil {
			t.Fatalf("%v in %s", err, encodeMember(g, m))
		}
		_ = json.Unmarshal(encoded, &wanted)
		if !reflect.DeepEqual(got, wanted) {
			t.Fatalf("got %s, want %s", encodeMember(g, m), encoded)
		}
	})
}
