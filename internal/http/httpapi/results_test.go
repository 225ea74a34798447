package httpapi

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// resultJSON is a result as encoding/json writes it.
type resultJSON struct {
	UserID       id.User     `json:"userId"`
	Gained       level.XP    `json:"gained"`
	XP           level.XP    `json:"xp"`
	Level        level.Level `json:"level"`
	MessageCount int64       `json:"messageCount"`
	LeveledUp    bool        `json:"leveledUp"`
	AddRoles     []id.Role   `json:"addRoles"`
	RemoveRoles  []id.Role   `json:"removeRoles"`
}

func TestResultsAreWhatTheEncoderWrites(t *testing.T) {
	g := &guild.Guild{Settings: guild.Settings{RoleRewards: []guild.RoleReward{
		{Level: 1, Stack: true, Roles: []guild.Role{{ID: "300000000000000001"}, {ID: "300000000000000002"}}},
		{Level: 3, Roles: []guild.Role{{ID: "300000000000000003"}}},
		{Level: 5, Stack: true, Roles: []guild.Role{{ID: "300000000000000004"}}},
	}}}
	rapid.Check(t, func(t *rapid.T) {
		gains := make([]leaderboard.Gain, rapid.IntRange(1, 5).Draw(t, "messages"))
		results := make([]resultJSON, len(gains))
		for i := range gains {
			gain := leaderboard.Gain{
				UserID: rapid.SampledFrom([]id.User{"10000000000000000", "9999999999999999999"}).Draw(t, "user"),
				Gained: level.XP(rapid.Int32Min(0).Draw(t, "gained")), XP: level.XP(rapid.Int32Min(0).Draw(t, "xp")),
				MessageCount: rapid.Int64Min(1).Draw(t, "count"), Level: level.Level(rapid.IntRange(0, 6).Draw(t, "level")), LeveledUp: rapid.Bool().Draw(t, "up"),
			}
			gains[i] = gain
			results[i] = resultJSON{gain.UserID, gain.Gained, gain.XP, gain.Level, gain.MessageCount, gain.LeveledUp, []id.Role{}, []id.Role{}}
			if gain.LeveledUp {
				results[i].AddRoles, results[i].RemoveRoles = g.RoleChanges(gain.Level)
			}
		}
		want, err := json.Marshal(map[string]any{"results": results})
		if err != nil {
			t.Fatal(err)
		}
		if got := encodeResults(g, gains); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
