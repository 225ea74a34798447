package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
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

// beginning is the names that begin with a text, which is folded and ends in no character that has none after it.
func beginning(text string) leaderboard.NameSpan {
	runes := []rune(text)
	runes[len(runes)-1]++
	return leaderboard.NameSpan{From: text, Before: string(runes)}
}

func wantNames(t *testing.T, a ArchiveStore, g *guild.Guild, limit int, texts []string, want ...id.User) {
	t.Helper()
	spans := make([]leaderboard.NameSpan, len(texts))
	for i, text := range texts {
		spans[i] = beginning(text)
	}
	got, err := a.FindNames(t.Context(), refOf(g), spans, limit)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d names like %q: %v, %v; want %v", limit, texts, got, err, want)
	}
}

func archiveNames(t *testing.T, a ArchiveStore) {
	g, other := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	const (
		anna, annaB, ann, percent, under, elan, none, gone id.User = "300000000000000001", "300000000000000002", "300000000000000003",
			"300000000000000004", "300000000000000005", "300000000000000006", "300000000000000007", "300000000000000008"
	)
	writeRows(t, a, l, g, 0, 1,
		namedRow(anna, "ANNA", "Zoë"), namedRow(annaB, "anna.b", "Anna"), namedRow(ann, "someone", "aNNe"),
		namedRow(percent, "a%na", ""), namedRow(under, "a_na", ""), namedRow(elan, "elan", "Élan 😀"),
		namedRow(none, "", ""), namedRow(gone, "anna.gone", ""))
	writeRows(t, a, l, g, 0, 2, tombstone(gone))
	writeRows(t, a, l, other, 0, 1, namedRow("300000000000000009", "anna", ""))

	wantNames(t, a, g, 20, []string{"an"}, anna, annaB, ann)
	wantNames(t, a, g, 2, []string{"an"}, anna, annaB)
	wantNames(t, a, g, 20, []string{"anna"}, anna, annaB)
	wantNames(t, a, g, 20, []string{"anna."}, annaB)
	wantNames(t, a, g, 20, []string{"zo"}, anna)
	wantNames(t, a, g, 20, []string{"zoë"}, anna)
	wantNames(t, a, g, 20, []string{"a%"}, percent)
	wantNames(t, a, g, 20, []string{"a_"}, under)
	wantNames(t, a, g, 20, []string{"él"})
	wantNames(t, a, g, 20, []string{"él", "Él", "ÉL"}, elan)
	wantNames(t, a, g, 20, []string{"so", "zo", "el"}, elan, ann, anna)
	wantNames(t, a, g, 20, []string{"nna"})
	wantNames(t, a, g, 20, []string{"'; --", `\`})
	wantNames(t, a, g, 20, nil)

	writeRows(t, a, l, g, 0, 3, namedRow(anna, "renamed", ""))
	wantNames(t, a, g, 20, []string{"anna"}, annaB)
	wantNames(t, a, g, 20, []string{"zo"})
	wantNames(t, a, g, 20, []string{"ren"}, anna)

	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	again := put(t, a, settingsOf(t, guildA, ""))
	wantNames(t, a, again, 20, []string{"an"})
}

// archiveManyNames compares what is found among tens of thousands of names with what a look at each of them finds.
func archiveManyNames(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	const total, batch = 20_000, 5000
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcABCéÉ_%ж")
	name := func() string {
		text := make([]rune, 2+random.IntN(5))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		return string(text)
	}
	fold := func(s string) string { return strings.NewReplacer("A", "a", "B", "b", "C", "c").Replace(s) }
	type named struct {
		name string
		user id.User
	}
	var names []named
	for from := 0; from < total; from += batch {
		rows := make([]snapshot.Row, batch)
		for i := range rows {
			user, username, globalName := id.User(fmt.Sprintf("3%017d", from+i)), name(), name()
			rows[i] = namedRow(user, username, globalName)
			names = append(names, named{fold(username), user}, named{fold(globalName), user})
		}
		writeRows(t, a, l, g, 0, int64(from+1), rows...)
	}
	slices.SortFunc(names, func(x, y named) int { return strings.Compare(x.name+" "+string(x.user), y.name+" "+string(y.user)) })
	for range 60 {
		texts := []string{fold(string([]rune(name())[:2])), "é" + fold(name()), "Éж"}[:1+random.IntN(3)]
		limit := 1 + random.IntN(30)
		var want []id.User
		for _, n := range names {
			matches := slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(n.name, text) })
			if matches && len(want) < limit && !slices.Contains(want, n.user) {
				want = append(want, n.user)
			}
		}
		wantNames(t, a, g, limit, texts, want...)
	}
}
