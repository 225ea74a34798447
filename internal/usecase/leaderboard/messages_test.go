package leaderboard_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"levelboard/internal/domain/award"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// Hundreds of calls may wait for the board, each with a thousand messages.
func TestAWaitingCallDoesNotHoldItsMessages(t *testing.T) {
	w := newWorld(t)
	messages, text := messagesOfOneText()
	steps := 0
	w.board.during = func() {
		steps++
		runtime.GC()
		if text.Value() != nil {
			t.Error("the messages' text is still in memory while the board works")
		}
	}
	if gains, _, err := w.Award(t.Context(), w.guild, messages, leaderboard.Once{}); err != nil || len(gains) != 1000 || gains[999].UserID != user1 {
		t.Errorf("the call made %d gains (%v), want 1000", len(gains), err)
	}
	if steps == 0 {
		t.Error("the board was not called, so the test proves nothing")
	}
}

// messagesOfOneText returns messages whose ids are parts of one text, as the API reads them.
func messagesOfOneText() ([]leaderboard.Message, weak.Pointer[byte]) {
	text := strings.Repeat(string(user1), 1000)
	messages := make([]leaderboard.Message, 1000)
	for i := range messages {
		name := text[i*len(user1) : (i+1)*len(user1)]
		messages[i] = leaderboard.Message{Message: award.Message{UserID: id.User(name), Channel: id.Channel(name), Roles: []id.Role{id.Role(name)}}}
	}
	return messages, weak.Make(unsafe.StringData(text))
}

// A repeat counts the messages that counted the first time, though other channels are ignored now.
func TestARepeatCountsMessagesAsTheFirstTime(t *testing.T) {
	w := newWorld(t)
	messages := []leaderboard.Message{
		{Message: award.Message{UserID: user1, Channel: "1"}}, {Message: award.Message{UserID: user1, Channel: "2"}}, {Message: award.Message{UserID: "200000000000000002", Channel: "1"}},
	}
	once := leaderboard.Once{Key: leaderboard.DigestOf([]byte("key"))}
	var first []leaderboard.Gain
	for version, ignored := range []id.Channel{"1", "2"} {
		g := *w.guild
		g.Version, g.IgnoredChannelIDs = int64(version), []id.Channel{ignored}
		gains, replayed, err := w.Award(t.Context(), &g, messages, once)
		if err != nil || replayed != (version > 0) {
			t.Fatalf("version %d: replayed %v (%v), want only the later ones replayed", version, replayed, err)
		}
		for i := range gains {
			gains[i].InCooldown = false // differs in a repeat
		}
		if version > 0 && !slices.Equal(gains, first) {
			t.Errorf("the repeat gave %+v, want %+v", gains, first)
		}
		first = gains
	}
	if m, err := w.Member(t.Context(), w.guild, user1); err != nil || m.MessageCount != 1 || first[0].Gained != 0 || first[1].MessageCount != 1 {
		t.Errorf("the member is %+v (%v) after %+v, want one message counted", m, err, first)
	}
}

// A message count stops at its maximum, on the board and in answers.
func TestAMessageCountStopsAtItsMaximum(t *testing.T) {
	w := newWorld(t)
	const most = 2147483647
	w.board.members[user1] = leaderboard.Member{UserID: user1, MessageCount: most - 1}
	message := leaderboard.Message{Message: award.Message{UserID: user1, Channel: "1"}}
	gains, _, err := w.Award(t.Context(), w.guild, []leaderboard.Message{message, message, message}, leaderboard.Once{})
	if err != nil || gains[0].MessageCount != most || gains[1].MessageCount != most || gains[2].MessageCount != most {
		t.Errorf("the gains are %+v (%v), want message counts of %d", gains, err, most)
	}
}

// The guild disappears before the second step of a call. The first step was made, so the error must not say that nothing changed.
func TestACallMadeInPartSaysSo(t *testing.T) {
	messages, users := make([]leaderboard.Message, leaderboard.MaxAwards+1), make([]id.User, leaderboard.MaxAwards+1)
	for i := range messages {
		users[i] = id.User(fmt.Sprintf("2%017d", i))
		messages[i].UserID = users[i]
	}
	for name, call := range map[string]func(w *world) error{
		"messages": func(w *world) error {
			_, _, err := w.Award(t.Context(), w.guild, messages, leaderboard.Once{})
			return err
		},
		"presence": func(w *world) error {
			_, err := w.SetPresence(t.Context(), w.guild, leaderboard.Presence{Users: users})
			return err
		},
	} {
		w := newWorld(t)
		if _, _, err := w.Award(t.Context(), w.guild, messages, leaderboard.Once{}); err != nil {
			t.Fatal(err)
		}
		steps := 0
		w.board.during = func() {
			if steps++; steps == 2 {
				w.loader.err = leaderboard.ErrStillLoading
				w.board.drop()
			}
		}
		f := fault.From(call(w))
		if f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !strings.Contains(f.Message, "is being loaded") ||
			!strings.Contains(f.Message, "Some of the members were changed") || strings.Contains(f.Message, "Nothing was changed") {
			t.Errorf("%s: %v, want Unavailable with Retry-After that says that some members changed", name, f)
		}
	}
}
