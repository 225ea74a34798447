package demo_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"levelboard/internal/app/demo"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMembersAreValidAndDifferent(t *testing.T) {
	rows := demo.Members(5000, 7, now)
	if len(rows) != 5000 {
		t.Fatalf("the demo has %d members, want 5000", len(rows))
	}
	username := regexp.MustCompile(`^[a-z0-9._]{2,32}$`)
	users, names := map[id.User]bool{}, map[string]bool{}
	for i, row := range rows {
		if !id.Valid(string(row.UserID)) || users[row.UserID] {
			t.Errorf("the user id %s is invalid or taken", row.UserID)
		}
		if !username.MatchString(row.User.Username) || names[row.User.Username] {
			t.Errorf("the username %q is invalid or taken", row.User.Username)
		}
		users[row.UserID], names[row.User.Username] = true, true
		if row.User.Avatar != nil {
			t.Errorf("a member has the avatar %q, want none: there is no picture", *row.User.Avatar)
		}
		if g := row.User.GlobalName; g != nil && (*g == "" || !utf8.ValidString(*g) || len(*g) > 256) {
			t.Errorf("the display name %q is empty, too long or not UTF-8", *g)
		}
		if xp := int64(row.XP); row.MessageCount < 1 || xp < 15*row.MessageCount || xp > 40*row.MessageCount {
			t.Errorf("a member has %d XP for %d messages, want 15 to 40 for each of one or more", xp, row.MessageCount)
		}
		if row.LastUpdated.After(now) || row.LastUpdated.Before(now.AddDate(-2, 0, -1)) || row.Deleted {
			t.Errorf("the row %+v is deleted, or not changed within the last two years", row)
		}
		if i > 0 && row.XP > rows[i-1].XP {
			t.Errorf("member %d has %d XP, more than the one before: %d", i, row.XP, rows[i-1].XP)
		}
	}
}

func TestVisitorsAreOnTheBoard(t *testing.T) {
	for _, n := range []int{2, 3, 20, 39, 40, 250, 5000} {
		rows := demo.Members(n, 7, now)
		member := rows[n/40].Member
		users := usersOf(rows)
		for _, v := range demo.Visitors(signin.User{ID: member.UserID, Name: member.User.Username}) {
			if !slices.Contains(users, v.User.ID) {
				t.Errorf("none of %d members is the visitor %s (%s)", n, v.User.Name, v.About)
			}
		}
		if member.UserID == demo.OwnerID {
			t.Errorf("of %d members the owner and the visiting member are the same", n)
		}
	}
	if rows := demo.Members(1, 7, now); rows[0].UserID == demo.OwnerID {
		t.Error("the only member is the owner, want a plain one for the visiting member")
	}
}

func TestMembersHaveAHistory(t *testing.T) {
	rows := demo.Members(5000, 7, now)
	today := period.DayAt(now, time.UTC)
	total, active := 0, map[period.Day]int{}
	for _, row := range rows {
		var sum int64
		for i, g := range row.Gains {
			if g.Gained < 15 || g.Day > period.DayAt(row.LastUpdated, time.UTC) || g.Day < today-demo.HistoryDays || i > 0 && g.Day <= row.Gains[i-1].Day {
				t.Errorf("%s, last updated %s, has gains that are under 15, out of order or outside the history: %+v", row.UserID, row.LastUpdated, row.Gains)
			}
			sum += g.Gained
			active[g.Day]++
		}
		if total += len(row.Gains); sum > int64(row.XP) {
			t.Errorf("%s gained %d XP in the history, more than its %d XP", row.UserID, sum, row.XP)
		}
	}
	for d := today - demo.HistoryDays; d <= today; d++ {
		if active[d] < 50 {
			t.Errorf("%d members are active on %s, want at least 50", active[d], d)
		}
	}
	if total > 50_000 {
		t.Errorf("the demo starts with %d gains, want at most 50000 for a quick start", total)
	}
}

func TestASeasonRunsAtAnyTimeAtAnyTime(t *testing.T) {
	for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2028; at = at.Add(9*24*time.Hour - time.Second) {
		document, err := demo.Guild(5000, at, true)
		if err != nil {
			t.Fatal(err)
		}
		s, err := guild.Parse(demo.GuildID, document)
		if err != nil {
			t.Fatal(err)
		}
		if running := s.Calendar().Running(period.DayAt(at, time.UTC)); len(running) != 4 {
			t.Errorf("at %s these periods run, want four: %+v", at, running)
		}
	}
}

func TestSeedDecidesTheMembers(t *testing.T) {
	a, b, other := demo.Members(300, 1, now), demo.Members(300, 1, now), demo.Members(300, 2, now)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave other members")
	}
	if reflect.DeepEqual(a, other) {
		t.Error("another seed gave the same members")
	}
	later := demo.Members(300, 1, now.Add(time.Hour))
	for i := range later {
		if later[i].UserID != a[i].UserID || later[i].XP != a[i].XP || !reflect.DeepEqual(later[i].User, a[i].User) {
			t.Fatal("another time gave other members")
		}
	}
}

func TestActivityIncrementsTheFirstMembersMost(t *testing.T) {
	increments := map[string]int{}
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ XP struct{ Increment int } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.XP.Increment < 15 || body.XP.Increment > 40 {
			t.Errorf("the body is %+v, %v, want 15 to 40 XP", body, err)
		}
		if r.Method != http.MethodPatch || r.Header.Get("X-Api-Key") != "secret" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("the activity sends %s with %v, want PATCH of JSON with its key", r.Method, r.Header)
		}
		user, ok := strings.CutPrefix(r.URL.Path, "/v2/levels/"+string(demo.GuildID)+"/users/")
		if !ok {
			t.Errorf("the activity changes %s, want a member of the demo", r.URL.Path)
		}
		increments[user]++
		w.WriteHeader(status)
	}))
	defer server.Close()
	rows := demo.Members(500, 3, now)
	activity := demo.NewActivity(rows, 3)
	activity.URL, activity.Key = server.URL, "secret"
	for range 400 {
		if err := activity.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	front := 0
	for _, user := range usersOf(rows)[:50] {
		front += increments[string(user)]
	}
	if front < 150 || len(increments) < 50 {
		t.Errorf("the first tenth spoke %d times of 400, want 150; %d members spoke, want 50", front, len(increments))
	}

	status = http.StatusServiceUnavailable
	if err := activity.Step(context.Background()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a change answered with 503 gives the error %v, want one that names 503", err)
	}
}

func TestActivityEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))
	defer server.Close()
	activity := demo.NewActivity(demo.Members(10, 1, now), 1)
	activity.URL, activity.Rate = server.URL, 1000
	ended := make(chan struct{})
	go func() {
		activity.Run(ctx)
		close(ended)
	}()
	testenv.Receive(t, ended, "the activity ends with its context")
}

func usersOf(rows []snapshot.Row) []id.User {
	users := make([]id.User, len(rows))
	for i, row := range rows {
		users[i] = row.UserID
	}
	return users
}
