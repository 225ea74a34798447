package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func namedRow(user id.User, username, globalName string) snapshot.Row {
	r := row(user, 1)
	r.User.Username = username
	if globalName != "" {
		r.User.GlobalName = &globalName
	}
	return r
}

func queryOf(t *testing.T, text string) leaderboard.Query {
	t.Helper()
	return mustGet(leaderboard.ParseQuery(text))(t)
}

func wantNames(t *testing.T, a store.Archive, g *guild.Guild, limit int, text string, want ...id.User) {
	t.Helper()
	for _, words := range []int{0, 50_000} {
		got, err := a.FindNames(t.Context(), refOf(g), queryOf(t, text), leaderboard.NameLimits{Users: limit, Words: words})
		if err != nil || !slices.Equal(got.Users, want) || got.Many {
			t.Errorf("the first %d names like %q, by %d words, are of %+v (%v), want %v", limit, text, words, got, err, want)
		}
	}
}

func archiveNames(t *testing.T, a store.Archive) {
	g, other := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	var users []id.User
	var rows []snapshot.Row
	for i, names := range [][2]string{
		{"ANNA", "Zoë"}, {"anna.b", "The  Anna"}, {"someone", "aNNe"}, {"a%na", ""}, {"a_na", ""}, {"elan", "\u3000Élan 😀 d’Or"}, {"", ""}, {"anna.gone", ""}, {"anna.away", ""},
		{"istanbul", "Straße Γιώργος"},
	} {
		users = append(users, id.User(fmt.Sprintf("3%017d", i)))
		r := namedRow(users[i], names[0], names[1])
		r.XP, r.Absent = level.XP(10*(i+1)), names[0] == "anna.away"
		rows = append(rows, r)
	}
	anna, annaB, ann, percent, under, elan, gone, away, turk := users[0], users[1], users[2], users[3], users[4], users[5], users[7], users[8], users[9]
	writeRows(t, a, l, g, 0, 1, rows...)
	writeRows(t, a, l, g, 0, 2, tombstone(gone))
	writeRows(t, a, l, other, 0, 1, namedRow("300000000000000099", "anna", ""))

	wantNames(t, a, g, 20, "an", ann, annaB, anna, away)
	wantNames(t, a, g, 2, "an", ann, annaB)
	wantNames(t, a, g, 20, "ANNA", annaB, anna, away)
	wantNames(t, a, g, 20, "anna.", annaB, away)
	wantNames(t, a, g, 20, "zO", anna)
	wantNames(t, a, g, 20, "ZOË", anna)
	wantNames(t, a, g, 20, "zoe\u0308", anna) // with a combining accent
	wantNames(t, a, g, 20, "the an", annaB)
	wantNames(t, a, g, 20, "an the", annaB)
	wantNames(t, a, g, 20, "a%", percent)
	wantNames(t, a, g, 20, "a_", under)
	wantNames(t, a, g, 20, "é", elan)
	wantNames(t, a, g, 20, "D’OR", elan)
	wantNames(t, a, g, 20, "😀", elan)
	wantNames(t, a, g, 20, "İST", turk)
	wantNames(t, a, g, 20, "STRASSE", turk)
	wantNames(t, a, g, 20, "ΓΙΏΡΓΟΣ", turk)
	for _, text := range []string{"nna", "or", "'; --", `\`, "anna zoe", "the%", "annab"} {
		wantNames(t, a, g, 20, text)
	}

	renamed := namedRow(anna, "renamed", "")
	renamed.XP = 500
	writeRows(t, a, l, g, 0, 3, renamed)
	wantNames(t, a, g, 20, "an", ann, annaB, away)
	wantNames(t, a, g, 20, "zo")
	wantNames(t, a, g, 20, "ren", anna)

	copied := mustGet(a.CreateCheckpoint(t.Context(), refOf(g), "names", false))(t)
	restore := checkpoints.Replacement{Guild: refOf(g), State: snapshot.State{Archived: 3}, From: copied.ID, Name: "before", Why: events.Restored}
	mustGet(a.Replace(t.Context(), restore))(t)
	wantNames(t, a, mustGet(a.Guild(t.Context(), guildA))(t), 20, "an", ann, annaB, away)

	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	again := put(t, a, settingsOf(t, guildA, ""))
	wantNames(t, a, again, 20, "an")
}

// archiveManyNames compares searches among thousands of names with a scan of all of them.
func archiveManyNames(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	const total, batch = 2000, 500
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcABCéÉ_%жЖß ")
	name := func() string {
		text := make([]rune, 2+random.IntN(5))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		return string(text)
	}
	all := make([]snapshot.Row, total)
	for i := range all {
		all[i] = namedRow(id.User(fmt.Sprintf("3%017d", i)), name(), name())
		all[i].XP = level.XP(random.IntN(total / 2))
	}
	for from := 0; from < total; from += batch {
		writeRows(t, a, l, g, 0, int64(from+1), all[from:from+batch]...)
	}
	slices.SortFunc(all, func(x, y snapshot.Row) int { return cmp.Or(cmp.Compare(y.XP, x.XP), cmp.Compare(y.UserID, x.UserID)) })
	for range 10 {
		text, limit := "b"+name(), 1+random.IntN(100)
		q := queryOf(t, text)
		var want []id.User
		for _, r := range all {
			if q.Matches(r.User) && len(want) < limit {
				want = append(want, r.UserID)
			}
		}
		wantNames(t, a, g, limit, text, want...)
	}
}
