package ownkeys_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/ownkeys"
)

func TestAKeyFromItsCreationToItsEnd(t *testing.T) {
	w := newWorld(t)
	secret, made := w.create(guild1)
	if !strings.HasPrefix(secret, made.Shown) || made.Shown != "lb_"+made.ID {
		t.Errorf("%q is shown of the key %s", made.Shown, made.ID)
	}
	w.wantWorks("a new key", secret, guild1, true)
	w.wantWorks("another guild", secret, guild2, false)
	w.must(w.meter.Flush(t.Context()))
	k := w.only()
	created := noon.UTC().Truncate(time.Millisecond)
	if k.ID != made.ID || k.Name != "bot" || k.Permission != apikey.ReadWrite || !k.CreatedAt.Equal(created) ||
		!k.ExpiresAt.Equal(created.Add(30*24*time.Hour)) || k.Expired || k.OldUntil != nil {
		t.Errorf("the list says %+v", k)
	}
	if len(k.Grants) != 1 || k.Grants[0] != (apikey.Grant{GuildID: guild1, By: apikey.User(userID)}) {
		t.Errorf("its grants are %+v", k.Grants)
	}
	if k.LastUsed == nil || !k.LastUsed.Equal(created) || k.Requests != 2 {
		t.Errorf("used %d times, the last at %v; want 2, %v", k.Requests, k.LastUsed, created)
	}
	w.must(w.Rename(t.Context(), userID, k.ID, "other"))
	w.must(w.Ungrant(t.Context(), userID, k.ID, guild1))
	w.wantWorks("a grant that was taken away", secret, guild1, false)
	w.must(w.Grant(t.Context(), user, k.ID, guild1))
	w.wantWorks("a grant that was given back", secret, guild1, true)
	w.pass(30 * 24 * time.Hour)
	if k := w.only(); !k.Expired || k.Name != "other" {
		t.Errorf("after its lifetime: %+v", k)
	}
	w.wantWorks("an expired key", secret, guild1, false)
	_, err := w.Rotate(t.Context(), userID, k.ID, ownkeys.NoOverlap)
	w.refused("rotate an expired key", err, fault.Conflict)
	w.must(w.Delete(t.Context(), userID, k.ID))
	w.refused("delete twice", w.Delete(t.Context(), userID, k.ID), fault.NotFound)
	if list, err := w.Keys(t.Context(), userID); err != nil || len(list) != 0 {
		t.Errorf("after the deletion: %+v, %v", list, err)
	}
	var did []string
	records, err := w.History(t.Context(), userID, 0, ownkeys.MaxHistory)
	for _, r := range records {
		did = append(did, string(r.Action))
	}
	if got := strings.Join(did, " "); err != nil || got != "deleted granted revoked renamed created" {
		t.Errorf("the history is %q, %v", got, err)
	}
}

func TestWhatAUserMayNotHave(t *testing.T) {
	w := newWorld(t)
	_, k := w.create()
	create := func(change func(*ownkeys.NewKey)) error {
		n := newKey()
		change(&n)
		_, _, err := w.Create(t.Context(), user, n)
		return err
	}
	rotate := func(who id.User, keyID string, overlap ownkeys.Overlap) error {
		_, err := w.Rotate(t.Context(), who, keyID, overlap)
		return err
	}
	history := func(before int64, limit int) error {
		_, err := w.History(t.Context(), userID, before, limit)
		return err
	}
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"an empty name":                 {create(func(n *ownkeys.NewKey) { n.Name = "" }), fault.Invalid},
		"a name that cannot be seen":    {create(func(n *ownkeys.NewKey) { n.Name = " \u3000" }), fault.Invalid},
		"a name of two lines":           {create(func(n *ownkeys.NewKey) { n.Name = "a\nb" }), fault.Invalid},
		"a name that is too long":       {create(func(n *ownkeys.NewKey) { n.Name = strings.Repeat("a", apikey.MaxName+1) }), fault.Invalid},
		"a name that is not UTF-8":      {create(func(n *ownkeys.NewKey) { n.Name = "a\xff" }), fault.Invalid},
		"no permission":                 {create(func(n *ownkeys.NewKey) { n.Permission = "" }), fault.Invalid},
		"no lifetime":                   {create(func(n *ownkeys.NewKey) { n.Lifetime = 0 }), fault.Invalid},
		"a lifetime of 8 days":          {create(func(n *ownkeys.NewKey) { n.Lifetime = ownkeys.Lifetime(8 * 24 * time.Hour) }), fault.Invalid},
		"a guild of others":             {create(func(n *ownkeys.NewKey) { n.Guilds = []id.Guild{guild1, guild2} }), fault.Forbidden},
		"a guild that is not here":      {create(func(n *ownkeys.NewKey) { n.Guilds = []id.Guild{guild1, nowhere} }), fault.NotFound},
		"rename to nothing":             {w.Rename(t.Context(), userID, k.ID, ""), fault.Invalid},
		"rename somebody else's":        {w.Rename(t.Context(), stranger, k.ID, "mine"), fault.NotFound},
		"grant a guild of others":       {w.Grant(t.Context(), user, k.ID, guild2), fault.Forbidden},
		"grant a guild that is nowhere": {w.Grant(t.Context(), user, k.ID, nowhere), fault.NotFound},
		"grant somebody else's key": {w.Grant(t.Context(), ownkeys.User{ID: stranger, Guilds: []id.Guild{guild1}}, k.ID, guild1),
			fault.NotFound},
		"ungrant of somebody else's": {w.Ungrant(t.Context(), stranger, k.ID, guild1), fault.NotFound},
		"rotate somebody else's":     {rotate(stranger, k.ID, ownkeys.NoOverlap), fault.NotFound},
		"rotate what is no id":       {rotate(userID, "../secrets", ownkeys.NoOverlap), fault.NotFound},
		"an overlap of 2 hours":      {rotate(userID, k.ID, ownkeys.Overlap(2*time.Hour)), fault.Invalid},
		"delete somebody else's":     {w.Delete(t.Context(), stranger, k.ID), fault.NotFound},
		"a history of nothing":       {history(0, 0), fault.Invalid},
		"a history of too much":      {history(0, ownkeys.MaxHistory+1), fault.Invalid},
		"a history before it began":  {history(-1, 1), fault.Invalid},
	} {
		w.refused(name, c.err, c.want)
	}
	if left := w.only(); left.Name != "bot" || len(left.Grants) != 0 {
		t.Errorf("the key became %+v", left)
	}
}

func TestChoices(t *testing.T) {
	for text, want := range map[string]time.Duration{"7": 7, "30": 30, "90": 90, "365": 365} {
		if l, err := ownkeys.ParseLifetime(text); err != nil || time.Duration(l) != want*24*time.Hour {
			t.Errorf("a lifetime of %s: %v, %v", text, l, err)
		}
	}
	if l, err := ownkeys.ParseLifetime("never"); err != nil || l != ownkeys.Never {
		t.Errorf("never: %v, %v", l, err)
	}
	for text, want := range map[string]time.Duration{"none": 0, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour} {
		if o, err := ownkeys.ParseOverlap(text); err != nil || time.Duration(o) != want {
			t.Errorf("an overlap of %s: %v, %v", text, o, err)
		}
	}
	for _, text := range []string{"", "0", "07", "7 ", "-7", "2h", "Never", "none "} {
		if _, err := ownkeys.ParseLifetime(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("a lifetime of %q: %v", text, err)
		}
		if _, err := ownkeys.ParseOverlap(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("an overlap of %q: %v", text, err)
		}
	}
	w := newWorld(t)
	n := newKey()
	n.Lifetime = ownkeys.Never
	if _, k, err := w.Create(t.Context(), user, n); err != nil || k.ExpiresAt != nil {
		t.Errorf("a key for ever expires at %v, %v", k.ExpiresAt, err)
	}
}

func TestALostRightTakesTheGrantAwayAndLeavesTheOperators(t *testing.T) {
	w := newWorld(t)
	secret, k := w.create(guild1)
	w.must(w.archive.Grant(t.Context(), k.ID, guild2, apikey.Operator))
	w.must(w.Refreshed(t.Context(), user))
	w.wantWorks("while the right lasts", secret, guild1, true)
	w.must(w.Refreshed(t.Context(), ownkeys.User{ID: userID}))
	w.wantWorks("when it is lost", secret, guild1, false)
	w.wantWorks("what the operator granted", secret, guild2, true)
}

func TestWhenTheArchiveIsAway(t *testing.T) {
	w := newWorld(t)
	secret, k := w.create(guild1)
	calls := map[string]func() error{
		"OwnedKeys":  func() error { _, err := w.Keys(t.Context(), userID); return err },
		"KeyHistory": func() error { _, err := w.History(t.Context(), userID, 0, 1); return err },
		"CreateKey":  func() error { _, _, err := w.Create(t.Context(), user, newKey()); return err },
		"RenameKey":  func() error { return w.Rename(t.Context(), userID, k.ID, "new") },
		"RotateKey":  func() error { _, err := w.Rotate(t.Context(), userID, k.ID, ownkeys.OneHour); return err },
		"Grant":      func() error { return w.Grant(t.Context(), user, k.ID, guild1) },
		"Ungrant":    func() error { return w.Ungrant(t.Context(), userID, k.ID, guild1) },
		"RevokeKey":  func() error { return w.Delete(t.Context(), userID, k.ID) },
		"KeepGrants": func() error { return w.Refreshed(t.Context(), ownkeys.User{ID: userID}) },
	}
	w.archive.Fail("*", errBroken)
	for method, call := range calls {
		err := call()
		w.refused(method, err, fault.Unavailable)
		if !errors.Is(err, errBroken) || strings.Contains(fault.From(err).Message, "broken") || w.archive.Calls(method) == 0 {
			t.Errorf("%s: %v", method, err)
		}
	}
	w.archive.Fail("*", nil)
	w.wantWorks("afterwards, the key", secret, guild1, true)
}
