package httpapi

import (
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// wantInvalid fails unless err reaches the client as a sentence.
func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if f := fault.From(err); f.Code != fault.Invalid || f.Message == "" {
		t.Fatalf("the error is %v, want fault.Invalid with a message", err)
	}
}

func wantUsers(t *testing.T, users []id.User) {
	t.Helper()
	seen := map[id.User]bool{}
	for _, user := range users {
		if !id.Valid(string(user)) || seen[user] {
			t.Fatalf("the user %q is accepted, though invalid or repeated", user)
		}
		seen[user] = true
	}
	if len(users) < 1 || len(users) > 1000 {
		t.Fatalf("%d users are accepted, want 1 to 1000", len(users))
	}
}

// FuzzPuts reads bodies of PUT on members. It accepts only what is within all bounds, with each user once.
func FuzzPuts(f *testing.F) {
	const ada = `{"userId":"100000000000000001","xp":5,"messageCount":0,"user":{"avatar":null,"discriminator":"0","username":"ada","globalName":null}}`
	for _, mode := range []string{"set", "higher", "add", "missing", "", "Set"} {
		f.Add([]byte(`{"mode":"` + mode + `","members":[` + ada + `]}`))
	}
	for _, members := range []string{
		``, ada + `,` + ada, ada + `,{"userId":"\u003100000000000000001","xp":1}`, `{"userId":"100000000000000001","xp":2147483648}`,
		`{"userId":"100000000000000001","xp":1,"messageCount":-1}`, `{"userId":"1","xp":1}`, `{"userId":"100000000000000001","xp":1e3}`,
	} {
		f.Add([]byte(`{"mode":"set","members":[` + members + `]}`))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		p, err := readPuts(sent)
		if err != nil {
			wantInvalid(t, err)
			return
		}
		users := make([]id.User, len(p.Members))
		for i, m := range p.Members {
			users[i] = m.User
			if m.XP < 0 || m.XP > level.MaxXP || m.MessageCount != nil && (*m.MessageCount < 0 || *m.MessageCount > int64(level.MaxXP)) {
				t.Fatalf("%+v is accepted, out of bounds", m)
			}
			if m.Data != nil && (len(m.Data.Username) > 256 || strings.Contains(m.Data.Username+m.Data.Discriminator, "\x00")) {
				t.Fatalf("the user data %+v is accepted, out of bounds", m.Data)
			}
		}
		wantUsers(t, users)
		switch p.Mode {
		case leaderboard.PutSet, leaderboard.PutHigher, leaderboard.PutAdd, leaderboard.PutMissing:
		default:
			t.Fatalf("the mode %q is accepted", p.Mode)
		}
	})
}

// FuzzPresence reads bodies of PUT on presence.
func FuzzPresence(f *testing.F) {
	for _, body := range []string{
		`{"present":false,"userIds":["100000000000000001"]}`, `{"present":true,"userIds":["100000000000000001","100000000000000001"]}`, `{"userIds":[],"present":true}`,
		`{"present":null,"userIds":["100000000000000001"]}`, `{"present":true,"userIds":["\u003100000000000000001","x"]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		p, err := readPresence(sent)
		if err != nil {
			wantInvalid(t, err)
			return
		}
		wantUsers(t, p.Users)
	})
}
