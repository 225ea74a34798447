package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/lease"
)

const hookURL = "https://discord.example/api/webhooks/1/topsecret"

// hookID returns the id of the nth announcement.
func hookID(n int) string { return fmt.Sprintf("6ba7b81%d-9dad-41d1-80b4-00c04fd430c8", n) }

// hook returns the nth announcement. A url is encoded as given.
func hook(n int, kind announcement.Kind, url string) announcement.Announcement {
	a := announcement.Announcement{ID: hookID(n), Name: "general", Kind: kind, URL: announcement.Secret(url)}
	a.SetDefaults()
	if kind == announcement.Board {
		a.Events, a.Top = nil, 3
	}
	return a
}

// announcing puts a guild with announcements.
func announcing(t *testing.T, a store.Archive, list ...announcement.Announcement) *guild.Guild {
	t.Helper()
	s := settingsOf(t, guildA, "")
	s.Announcements = list
	return put(t, a, s)
}

// statesOf reads the states of the guild's announcements, by the number in their ids.
func statesOf(t *testing.T, a store.Archive) map[int]announce.State {
	t.Helper()
	states := map[int]announce.State{}
	for _, s := range mustGet(a.AnnouncementStates(t.Context(), []id.Guild{guildA, guildB}))(t) {
		states[int(s.ID[7]-'0')] = s
	}
	return states
}

// archiveAnnouncementStates follows the states of announcements through changes of the settings.
func archiveAnnouncementStates(t *testing.T, a store.Archive) {
	before := time.Now().Add(-time.Minute)
	g := announcing(t, a, hook(1, announcement.Discord, hookURL), hook(2, announcement.Webhook, hookURL), hook(3, announcement.Bot, ""))
	put(t, a, settingsOf(t, guildB, ""))
	if read := mustGet(a.Guild(t.Context(), guildA))(t); len(read.Announcements) != 3 || read.Announcements[0].URL.Reveal() != hookURL {
		t.Fatalf("read the announcements %+v, want three, the first to %s", read.Announcements, hookURL)
	}
	first := statesOf(t, a)
	for n, s := range first {
		if began := time.UnixMilli(int64(s.Cursor.Millis)); began.Before(before) || began.After(time.Now().Add(time.Minute)) || s.Version != 1 || s.Off != "" ||
			len(s.Secret) != 32 || s.Incarnation != g.Incarnation || !s.LastSent.IsZero() {
			t.Errorf("announcement %d begins as %+v, want a new state with a secret", n, s)
		}
	}
	if len(first) != 3 || bytes.Equal(first[1].Secret, first[2].Secret) {
		t.Errorf("the states are %+v, want three with different secrets", first)
	}

	l := leased(t, a)
	moved := first[1]
	moved.Cursor, moved.LastSent, moved.LastError = events.ID{Millis: moved.Cursor.Millis + 5, Number: 7}, time.UnixMilli(1_700_000_000_123).UTC(), "wrong"
	moved.Message, moved.Shown = "42", "digest"
	noted(t, a, l, moved)
	if got := statesOf(t, a); !reflect.DeepEqual(got[1], moved) || !reflect.DeepEqual(got[2], first[2]) {
		t.Errorf("after a note the first state is\n%+v, want\n%+v\nand the others unchanged", got[1], moved)
	}

	// A new text changes no state, with the URL given as it is shown or left out.
	text := "{user}"
	again := hook(1, announcement.Discord, announcement.Secret(hookURL).Shown())
	again.Text = &text
	g = announcing(t, a, again, hook(2, announcement.Webhook, ""), hook(3, announcement.Bot, ""))
	if got := statesOf(t, a); g.Announcements[0].URL.Reveal() != hookURL || g.Announcements[1].URL.Reveal() != hookURL || !reflect.DeepEqual(got[1], moved) {
		t.Errorf("after a new text the announcements are %+v, the first in the state %+v, want the URL and %+v", g.Announcements, got[1], moved)
	}

	// A new URL starts again from now, even if the announcement was off.
	moved.Off = "gone"
	noted(t, a, l, moved)
	announcing(t, a, hook(1, announcement.Discord, hookURL+"2"), hook(2, announcement.Webhook, ""), hook(4, announcement.Board, hookURL))
	got := statesOf(t, a)
	if s := got[1]; s.Off != "" || s.Version != 2 || s.Message+s.Shown+s.LastError != "" || s.Cursor.Number != 0 {
		t.Errorf("with a new URL the state is %+v, want version 2, on and empty", s)
	}
	if _, there := got[3]; there || len(got) != 3 || !reflect.DeepEqual(got[2], first[2]) {
		t.Errorf("the states are %+v, want one new, none of the removed and the second unchanged", got)
	}
	if err := a.NoteAnnouncement(t.Context(), l, moved); !errors.Is(err, announce.ErrUnknown) {
		t.Errorf("noting a state read before: %v, want announce.ErrUnknown", err)
	}
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	if got := statesOf(t, a); len(got) > 0 {
		t.Errorf("a deleted guild has the states %+v, want none", got)
	}
}

func noted(t *testing.T, a store.Archive, l lease.Lease, s announce.State) {
	t.Helper()
	must(t, a.NoteAnnouncement(t.Context(), l, s))
}

// archiveAnnouncementsOff switches announcements off and on, and lists those that are on.
func archiveAnnouncementsOff(t *testing.T, a store.Archive) {
	announcing(t, a, hook(1, announcement.Discord, hookURL), hook(2, announcement.Webhook, hookURL), hook(3, announcement.Bot, ""), hook(4, announcement.Board, hookURL))
	l, first := leased(t, a), statesOf(t, a)
	on := func(after announce.Key, limit int) (list []string) {
		for _, s := range mustGet(a.AnnouncementsOn(t.Context(), after, limit))(t) {
			list = append(list, s.ID)
		}
		return list
	}
	if got := on(announce.Key{}, 10); !reflect.DeepEqual(got, []string{hookID(1), hookID(2), hookID(4)}) {
		t.Errorf("%v are on, want 1, 2 and 4", got)
	}
	if got := on(first[1].Key, 1); !reflect.DeepEqual(got, []string{hookID(2)}) {
		t.Errorf("the one after the first is %v, want 2", got)
	}
	off := first[1]
	off.Off, off.Cursor.Millis = "gone", 5
	noted(t, a, l, off)
	if got := on(announce.Key{}, 10); len(got) != 2 {
		t.Errorf("with one of three off, %v are on", got)
	}
	if err := a.NoteAnnouncement(t.Context(), l, off); !errors.Is(err, announce.ErrUnknown) {
		t.Errorf("noting an announcement that is off: %v, want announce.ErrUnknown", err)
	}
	for _, n := range []int{1, 2} {
		must(t, a.SwitchAnnouncementOn(t.Context(), first[n].Key))
	}
	got := statesOf(t, a)
	if s := got[1]; s.Off != "" || s.Version != first[1].Version+1 || s.Cursor.Millis < first[1].Cursor.Millis {
		t.Errorf("switched on again, the state is %+v, want the next version from now", s)
	}
	if !reflect.DeepEqual(got[2], first[2]) {
		t.Errorf("an announcement that was on became %+v, want %+v", got[2], first[2])
	}
	secret := bytes.Repeat([]byte{7}, 32)
	if err := a.SetAnnouncementSecret(t.Context(), first[2].Key, secret); err != nil || !bytes.Equal(statesOf(t, a)[2].Secret, secret) {
		t.Errorf("setting a new secret: %v", err)
	}
	board := first[4]
	board.Message, board.Shown, board.Cursor = "9", "x", events.ID{}
	must(t, a.NoteBoardMessage(t.Context(), board))
	if s := statesOf(t, a)[4]; s.Message != "9" || s.Shown != "x" || s.Cursor != first[4].Cursor {
		t.Errorf("noting a board's message made %+v, want the message 9 and the old cursor", s)
	}
	none := announce.Key{Guild: guildA, ID: hookID(9)}
	for _, err := range []error{a.SwitchAnnouncementOn(t.Context(), none), a.SetAnnouncementSecret(t.Context(), none, secret)} {
		if !errors.Is(err, announce.ErrUnknown) {
			t.Errorf("an unknown announcement: %v, want announce.ErrUnknown", err)
		}
	}
	other := lease.Lease{Holder: "other", Fence: l.Fence}
	if err := a.NoteAnnouncement(t.Context(), other, got[2]); !errors.Is(err, lease.ErrLost) {
		t.Errorf("noting without the lease: %v, want lease.ErrLost", err)
	}
}

// archiveAnnouncementSecrets refuses an address that is not one, unless a stored one stands for it. No address is shown.
func archiveAnnouncementSecrets(t *testing.T, a store.Archive) {
	shown := announcement.Secret(hookURL).Shown()
	for _, list := range [][]announcement.Announcement{{hook(1, announcement.Discord, shown)}, {hook(1, announcement.Discord, "")}} {
		s := settingsOf(t, guildA, "")
		s.Announcements = list
		if _, _, err := a.PutGuild(t.Context(), s); !fault.Is(err, fault.Invalid) || fault.From(err).Path != "announcements[0].url" {
			t.Errorf("%+v: %v, want a fault at announcements[0].url", list, err)
		}
	}
	g := announcing(t, a, hook(1, announcement.Discord, hookURL))
	s := g.Settings
	s.Announcements = []announcement.Announcement{hook(2, announcement.Discord, shown)}
	if _, err := a.UpdateGuild(t.Context(), s, g.Edited); !fault.Is(err, fault.Invalid) {
		t.Errorf("the shown address under another id: %v, want a fault", err)
	}
	s.Announcements = []announcement.Announcement{hook(1, announcement.Discord, "https://other.example/…")}
	if _, err := a.UpdateGuild(t.Context(), s, g.Edited); !fault.Is(err, fault.Invalid) {
		t.Errorf("the shown address with another host: %v, want a fault", err)
	}
	s.Announcements = []announcement.Announcement{hook(1, announcement.Discord, hookURL+"2")}
	mustGet(a.UpdateGuild(byOperator(t), s, g.Edited))(t)
	describe(t, a, true, `"name":"Renamed"`)
	if g := mustGet(a.Guild(t.Context(), guildA))(t); g.Announcements[0].URL.Reveal() != hookURL+"2" {
		t.Errorf("after a description the URL is %s, want %s2", g.Announcements[0].URL.Reveal(), hookURL)
	}
	newest := readAudit(t, a, guildA, audit.Query{})[0]
	if text := string(newest.Before) + string(newest.After); !strings.Contains(text, "announcements") || strings.Contains(text, "topsecret") {
		t.Errorf("the audit record of a new address is %s, want announcements without the secret", text)
	}
}
