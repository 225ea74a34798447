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

// Hundreds of calls may wait for the board, each of a thousand messages.
func TestMessagesAreGoneWhileTheirCallWaits(t *testing.T) {
	w := newWorld(t)
	messages, text := messagesOfOneText()
	steps := 0
	w.board.during = func() {
		steps++
		runtime.GC()
		if text.Value() != nil {
			t.Error("the text of the messages is still in memory")
		}
	}
	if gains, _, err := w.Award(t.Context(), w.guild, messages, leaderboard.Once{}); err != nil || len(gains) != 1000 || gains[999].UserID != user1 {
		t.Errorf("got %d gains, and %v", len(gains), err)
	}
	if steps == 0 {
		t.Error("the board was never asked")
	}
}

// messagesOfOneText returns messages whose names are parts of one text, as the API reads them.
func messagesOfOneText() ([]leaderboard.Message, weak.Pointer[byte]) {
	text := strings.Repeat(string(user1), 1000)
	messages := make([]leaderboard.Message, 1000)
	for i := range messages {
		name := text[i*len(user1) : (i+1)*len(user1)]
		messages[i] = leaderboard.Message{Message: award.Message{UserID: id.User(name), Channel: id.Channel(name), Roles: []id.Role{id.Role(name)}}}
	}
	return messages, weak.Make(unsafe.StringData(text))
}

// A repeat counts the messages that were counted the first time, though other channels are ignored by now.
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
			t.Fatalf("replayed %v, %v", replayed, err)
		}
		for i := range gains {
			gains[i].InCooldown = false // a repeat is not counted
		}
		if version > 0 && !slices.Equal(gains, first) {
			t.Errorf("the repeat: %+v, want %+v", gains, first)
		}
		first = gains
	}
	if m, err := w.Member(t.Context(), w.guild, user1); err != nil || m.MessageCount != 1 || first[0].Gained != 0 || first[1].MessageCount != 1 {
		t.Errorf("%+v, %v, after %+v", m, err, first)
	}
}

// A message count stops at its bound, on the board and in answers.
func TestAMessageCountEndsAtItsBound(t *testing.T) {
	w := newWorld(t)
	const most = 2147483647
	w.board.members[user1] = leaderboard.Member{UserID: user1, MessageCount: most - 1}
	message := leaderboard.Message{Message: award.Message{UserID: user1, Channel: "1"}}
	gains, _, err := w.Award(t.Context(), w.guild, []leaderboard.Message{message, message, message}, leaderboard.Once{})
	if err != nil || gains[0].MessageCount != most || gains[1].MessageCount != most || gains[2].MessageCount != most {
		t.Errorf("%+v, %v", gains, err)
	}
}

// The guild disappears before the second step of a call. The first step was made, so the error must not say that nothing was.
func TestACallOfWhichAPartWasMadeSaysSo(t *testing.T) {
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
			t.Errorf("%s: %v, want Unavailable with a time, which says that some were changed", name, f)
		}
	}
}
