package app_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

var positionCases = cases{
	"a member's position on the board":     whereAMemberStands,
	"the top per cent are rounded up":      topPercentIsRoundedUp,
	"a member's position in periods":       whereAMemberStandsInPeriods,
	"the rows around a member":             aroundAMember,
	"the rows around a member of a period": aroundAMemberOfAPeriod,
	"members are found by name":            membersByName,
	"members are found by ids":             membersByIDs,
	"reads of unknown members are 404":     membersNotThere,
}

func membersPath(g, query string) string   { return "/v2/guilds/" + g + "/members?" + query }
func standingPath(g, u string) string      { return "/v2/guilds/" + g + "/members/" + u }
func aroundPath(g, u, query string) string { return standingPath(g, u) + "/around?" + query }

// readPaths returns a path of each read of members.
func readPaths(g, u string) []string {
	return []string{standingPath(g, u), aroundPath(g, u, "limit=3"), membersPath(g, "ids="+u), membersPath(g, "search=gopher&limit=3")}
}

func whereAMemberStands(t *testing.T, s *service) {
	g, a, b, c := s.guild(nil), newID(), newID(), newID()
	key := s.key(g)
	s.create(key, g, a, 4300)
	s.Do("POST", memberPath(g, b), key, object{"xp": 4200, "user": object{
		"avatar": "a_0123456789abcdef0123456789abcdef", "discriminator": "1234", "username": "ada", "globalName": "Ada L.",
	}}).Want(t, 200)
	s.create(key, g, c, 0)
	got := s.Do("GET", standingPath(g, b), key, nil).Want(t, 200)
	updated := *s.member(key, g, b).Level.LastUpdated
	wantJSON(t, got, fmt.Sprintf(`{"userId":%q,"user":{"accentColour":null,"avatar":"a_0123456789abcdef0123456789abcdef","discriminator":"1234","globalName":"Ada L.","username":"ada"},
		"rank":2,"of":3,"topPercent":66.67,"xp":4200,"level":10,"nextLevelXp":5100,"progress":5.2631578947368425,"messageCount":0,"lastUpdated":%q,
		"ahead":{"userId":%q,"xp":4300},"periods":[],"hidden":[]}`, b, updated, a))
	wantHeader(t, got, "Cache-Control", "private, no-cache")
	first := s.Do("GET", standingPath(g, a), key, nil).Want(t, 200)
	if ahead := apitest.At[any](t, first, "ahead"); ahead != nil || apitest.At[float64](t, first, "rank") != 1 {
		t.Errorf("the first member's position is %s, want rank 1 and nobody ahead", first.Body)
	}
	s.patch(key, g, c, maxXP)
	for _, u := range []string{a, b, c} {
		got := s.Do("GET", standingPath(g, u), key, nil).Want(t, 200)
		if rank := apitest.At[float64](t, got, "rank"); int(rank) != s.member(key, g, u).Level.Rank {
			t.Errorf("the position's rank is %v, want the member's %d", rank, s.member(key, g, u).Level.Rank)
		}
	}
}

func topPercentIsRoundedUp(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	users := s.fill(key, g, 7)
	for rank, want := range []float64{14.29, 28.58, 42.86, 57.15, 71.43, 85.72, 100} {
		got := s.Do("GET", standingPath(g, users[rank]), key, nil).Want(t, 200)
		if top := apitest.At[float64](t, got, "topPercent"); top != want || apitest.At[float64](t, got, "rank") != float64(rank+1) {
			t.Errorf("the position of rank %d of 7 is %s, want the top %v per cent", rank+1, got.Body, want)
		}
	}
}

// periodRank is a period in a member's position.
type periodRank struct {
	ID, Kind string
	Rank     *int
	Gained   int
}

func (p periodRank) String() string {
	rank := "null"
	if p.Rank != nil {
		rank = strconv.Itoa(*p.Rank)
	}
	return fmt.Sprintf("%s %s %s %d", p.ID, p.Kind, rank, p.Gained)
}

func whereAMemberStandsInPeriods(t *testing.T, s *service) {
	g, a, b := s.guild(counting(t, nil)), newID(), newID()
	key := s.key(g)
	s.create(key, g, a, 1000)
	s.create(key, g, b, 1000)
	ids := []string{day(t, 0).String(), period.At(period.Weekly, day(t, 0)).ID, period.At(period.Monthly, day(t, 0)).ID, "season-now"}
	want := func(u, rankAndGain string) {
		t.Helper()
		got := apitest.JSON[struct{ Periods []periodRank }](t, s.Do("GET", standingPath(g, u), key, nil).Want(t, 200))
		for i, id := range ids {
			if len(got.Periods) != 4 || got.Periods[i].String() != id+" "+kinds[i]+" "+rankAndGain {
				t.Fatalf("the member's periods are %v, want %s %s among 4", got.Periods, id, rankAndGain)
			}
		}
	}
	want(a, "null 0")
	s.patch(key, g, a, object{"increment": 5})
	s.patch(key, g, b, object{"increment": 9})
	want(a, "2 5")
	s.patch(key, g, b, object{"decrement": 20})
	want(b, "null -11")
	want(a, "1 5")
}

// rowsAround returns the rows around a member, and the number of members on the board.
func (s *service) rowsAround(key, g, u, query string) (rows []string, of int) {
	s.t.Helper()
	got := apitest.JSON[struct {
		Of int
		periodBoard
	}](s.t, s.Do("GET", aroundPath(g, u, query), key, nil).Want(s.t, 200))
	return got.rows(), got.Of
}

func aroundAMember(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	users := s.fill(key, g, 30)
	var all []string
	for i, u := range users {
		all = append(all, row(i+1, u, 0))
	}
	for query, want := range map[string][]string{"": all[10:21], "limit=4": all[13:17], "limit=100": all} {
		if got, of := s.rowsAround(key, g, users[15], query); !slices.Equal(got, want) || of != 30 {
			t.Errorf("%s around rank 16 is %v of %d, want %v of 30", query, got, of, want)
		}
	}
	got := s.Do("GET", aroundPath(g, users[7], "limit=1"), key, nil).Want(t, 200)
	page := s.Do("GET", boardPath(g, 1), key, nil).Want(t, 200)
	if of, on := apitest.At[[]any](t, got, "levels")[0], apitest.At[[]any](t, page, "levels")[7]; fmt.Sprint(of) != fmt.Sprint(on) {
		t.Errorf("the row is %v, want the leaderboard's %v", of, on)
	}
	if strings.Contains(string(got.Body), `"gained"`) {
		t.Errorf("rows without a period have gains: %s", got.Body)
	}
}

func aroundAMemberOfAPeriod(t *testing.T, s *service) {
	g, key := s.guild(counting(t, nil)), ""
	key = s.key(g)
	var users []string
	for i := range 5 {
		users = append(users, newID())
		s.gain(key, g, users[i], 50-10*i)
	}
	s.patch(key, g, users[4], object{"decrement": 10}) // no gain is left
	for _, name := range append([]string{day(t, 0).String(), "season-now"}, kinds...) {
		got, of := s.rowsAround(key, g, users[2], "limit=3&period="+name)
		if want := []string{row(2, users[1], 40), row(3, users[2], 30), row(4, users[3], 20)}; !slices.Equal(got, want) || of != 4 {
			t.Errorf("%s: the rows are %v of %d, want %v of 4", name, got, of, want)
		}
		wantFailure(t, s.Do("GET", aroundPath(g, users[4], "period="+name), key, nil), 404)
	}
	s.Do("GET", aroundPath(g, users[4], ""), key, nil).Want(t, 200)
	s.leave(key, g, users[0])
	if message := s.Do("GET", aroundPath(g, users[0], "period=day"), key, nil).Want(t, 404).Message(t); !strings.Contains(message, "has left") {
		t.Errorf("around an absent member the message is %q, want \"has left\" in it", message)
	}
	for _, name := range []string{"1999-W01", "season-other", "9999-12"} {
		wantFailure(t, s.Do("GET", aroundPath(g, users[0], "period="+name), key, nil), 404)
	}
}

// known is the answer about members by their ids.
type known struct {
	Members []struct{ UserID string }
	Missing []string
}

func membersByIDs(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	users := s.fill(key, g, 99)
	unknown := newID()
	asked := append([]string{users[50], unknown}, append(users[:50:50], users[51:98]...)...)
	asked = append(asked, users[98])
	got := s.Do("GET", membersPath(g, "ids="+strings.Join(asked, ",")), key, nil).Want(t, 200)
	answer := apitest.JSON[known](t, got)
	if len(asked) != 100 || len(answer.Members) != 99 || !slices.Equal(answer.Missing, []string{unknown}) {
		t.Fatalf("of %d ids %d members are found and %v missing, want 99 and %s", len(asked), len(answer.Members), answer.Missing, unknown)
	}
	for i, u := range slices.DeleteFunc(asked, func(u string) bool { return u == unknown }) {
		if answer.Members[i].UserID != u {
			t.Errorf("member %d is %s, want %s", i, answer.Members[i].UserID, u)
		}
	}
	page := s.Do("GET", boardPath(g, 1), key, nil).Want(t, 200)
	if row, on := apitest.At[[]any](t, got, "members")[0], apitest.At[[]any](t, page, "levels")[50]; fmt.Sprint(row) != fmt.Sprint(on) {
		t.Errorf("the row is %v, want the leaderboard's %v", row, on)
	}
	wantJSON(t, s.Do("GET", membersPath(g, "ids="+unknown), key, nil).Want(t, 200), `{"members":[],"missing":["`+unknown+`"]}`)
	wantHeader(t, got, "Cache-Control", "private, no-cache")
}

// found waits until a search finds exactly these members.
func (s *service) found(key, g, query string, want ...string) {
	s.t.Helper()
	var got []string
	testenv.Wait(s.t, fmt.Sprintf("%s finds %v", query, want), func() bool {
		got = nil
		for _, m := range apitest.JSON[known](s.t, s.Do("GET", membersPath(g, query), key, nil).Want(s.t, 200)).Members {
			got = append(got, m.UserID)
		}
		return slices.Equal(got, want)
	})
}

func membersByName(t *testing.T, s *service) {
	g, a, b, c := s.guild(nil), newID(), newID(), newID()
	key := s.key(g)
	s.named(key, g, a, 100, "ada", "Ada Lovelace")
	s.named(key, g, b, 300, "someone.else", "Élise  ADA")
	s.named(key, g, c, 200, "иван", nil)
	s.found(key, g, "search=ada", b, a)
	s.found(key, g, "search=ADA&limit=1", b)
	s.found(key, g, "search=love", a)
	s.found(key, g, "search=%C3%89L", b)
	s.found(key, g, "search=%C3%A9lis", b)
	s.found(key, g, "search=%D0%98%D0%92", c)
	s.found(key, g, "search=lovelace+ad", a)
	s.found(key, g, "search=else")
	s.found(key, g, "search=%25")
	s.found(key, g, "search="+strings.Repeat("%C3%A9", 64))
	s.patch(key, g, a, 400)
	s.found(key, g, "search=ada", a, b) // in the order of the current ranks
	got := s.Do("GET", membersPath(g, "search=lovelace"), key, nil).Want(t, 200)
	page := s.Do("GET", boardPath(g, 1), key, nil).Want(t, 200)
	if row, on := apitest.At[[]any](t, got, "members")[0], apitest.At[[]any](t, page, "levels")[0]; fmt.Sprint(row) != fmt.Sprint(on) {
		t.Errorf("the row is %v, want the leaderboard's %v", row, on)
	}
	if strings.Contains(string(got.Body), "missing") {
		t.Errorf("a search by name lists missing members: %s", got.Body)
	}
	s.Do("PUT", "/v2/guilds/"+g+"/presence", key, object{"present": false, "userIds": []string{b}}).Want(t, 200)
	s.found(key, g, "search=ada", a)
	s.Do("DELETE", memberPath(g, a), key, nil).Want(t, 204)
	s.found(key, g, "search=ada")
}

func membersNotThere(t *testing.T, s *service) {
	g, u, unknown := s.guild(nil), newID(), newID()
	key := s.key(g)
	s.create(key, g, u, 10)
	for _, path := range readPaths(unknown, u) {
		wantFailure(t, s.Do("GET", path, key, nil), 404)
	}
	for _, path := range readPaths(g, newID())[:2] {
		wantFailure(t, s.Do("GET", path, key, nil), 404)
		wantRefused(t, s.Do("GET", path, s.key(), nil), 403) // the grant is checked before the member
	}
	gone := func() {
		t.Helper()
		for _, path := range readPaths(g, u)[:2] {
			wantFailure(t, s.Do("GET", path, key, nil), 404)
		}
		wantJSON(t, s.Do("GET", membersPath(g, "ids="+u), key, nil).Want(t, 200), `{"members":[],"missing":["`+u+`"]}`)
	}
	s.Do("PUT", "/v2/guilds/"+g+"/presence", key, object{"present": false, "userIds": []string{u}}).Want(t, 200)
	gone()
	s.Do("DELETE", memberPath(g, u), key, nil).Want(t, 204)
	gone()
}
