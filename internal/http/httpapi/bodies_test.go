package httpapi

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/leaderboard"
)

// A member with any name is valid JSON, with invalid UTF-8 replaced.
func TestAMemberOfAnyNameIsJSON(t *testing.T) {
	g := &guild.Guild{Settings: guild.Settings{Curve: benchCurve(t)}}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"quoted" \ and </script>`, "\x00\n\u2028\ufffd", "ИВАН 🎉", "\xff not UTF-8 \xc3"}))
	rapid.Check(t, func(t *rapid.T) {
		m := leaderboard.Ranked{Rank: 1, Member: leaderboard.Member{User: leaderboard.User{GlobalName: rapid.Ptr(text, true).Draw(t, "globalName"), Username: text.Draw(t, "username")}}}
		encoded, err := encode(memberBody(g, m))
		if err != nil {
			t.Fatal(err)
		}
		var got memberJSON
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("decoding the member: %v in %s", err, encoded)
		}
		if got.User.Username != string([]rune(m.User.Username)) || (got.User.GlobalName == nil) != (m.User.GlobalName == nil) {
			t.Fatalf("the user %+v was encoded as %+v", m.User, got.User)
		}
	})
}

// Properties are in the order of the API document, absent lists are empty, and only unknown values are null.
func TestAnswersAreWrittenAsDocumented(t *testing.T) {
	g := &guild.Guild{Settings: guild.Settings{Curve: benchCurve(t), RoleRewards: []guild.RoleReward{{Level: 1, Stack: true, Roles: []guild.Role{{ID: "300000000000000001"}}}}}}
	member := leaderboard.Ranked{Rank: 3, Member: leaderboard.Member{XP: 150, MessageCount: 7, User: leaderboard.User{Username: "<ada>"}}}
	gain := leaderboard.Gain{UserID: "100000000000000001", Gained: 20, XP: 160, Level: 1, MessageCount: 8}
	up := gain
	up.LeveledUp = true
	for want, body := range map[string]any{
		`{"level":{"level":2,"messageCount":7,"xp":150}}`: (&request{}).changed(g, leaderboard.Outcome{After: 150, MessageCount: 7}),
		`{"level":{"lastUpdated":null,"level":2,"messageCount":7,"rank":3,"xp":150},"user":{"avatar":null,"discriminator":"","globalName":null,"username":"<ada>"}}`: memberBody(g, member),
		`[{"userId":"100000000000000001","gained":20,"xp":160,"level":1,"messageCount":8,"leveledUp":false,"addRoles":[],"removeRoles":[]},` +
			`{"userId":"100000000000000001","gained":20,"xp":160,"level":1,"messageCount":8,"leveledUp":true,"addRoles":["300000000000000001"],"removeRoles":[]}]`: resultsBody(g, []leaderboard.Gain{gain, up}),
	} {
		if got, err := encode(body); err != nil || string(got) != want {
			t.Errorf("the answer is %s (%v), want %s", got, err, want)
		}
	}
}
