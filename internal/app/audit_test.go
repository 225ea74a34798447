package app_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
)

var auditCases = cases{
	"each change of a member is recorded":    auditOfMembers,
	"each change of a guild is recorded":     auditOfGuild,
	"increments below the threshold are not": auditThreshold,
	"reasons":                                auditReasons,
	"filters":                                auditFilters,
	"the log goes with the guild":            auditOfDeletedGuild,
}

type auditRecord struct {
	ID            string
	At            time.Time
	Actor         struct{ Kind, ID, Name string }
	Action        string
	UserID        *string
	Before, After any
	Count         *int
	Reason        *string
	RequestID     string
}

type auditPage struct {
	Records []auditRecord
	Next    *string
}

func auditPath(g, query string) string { return "/guilds/" + g + "/audit?" + query }

func (s *service) audit(g, query string) auditPage {
	s.t.Helper()
	return apitest.JSON[auditPage](s.t, s.admin("GET", auditPath(g, query), nil).Want(s.t, 200))
}

// apart gives later records a later time than those so far: within one millisecond the archive's records sort behind those of journals.
func (s *service) apart(g string) { s.audit(g, "limit=1") }

// because sends the reason of a change.
func because(reason string) apitest.Option {
	return apitest.Header("X-Audit-Log-Reason", url.PathEscape(reason))
}

// wantAudit fails unless the newest records are want, newest first, each "action user before after count" with - for null.
func (s *service) wantAudit(g string, want ...string) []auditRecord {
	s.t.Helper()
	records := s.audit(g, "limit=100").Records
	var got []string
	for _, r := range records[:min(len(want), len(records))] {
		user, count := "-", "-"
		if r.UserID != nil {
			user = *r.UserID
		}
		if r.Count != nil {
			count = fmt.Sprint(*r.Count)
		}
		got = append(got, strings.ReplaceAll(fmt.Sprintf("%s %s %v %v %s", r.Action, user, r.Before, r.After, count), "<nil>", "-"))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the audit log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return records
}

func auditOfMembers(t *testing.T, s *service) {
	g := s.guild(object{"auditIncrementsFrom": 0})
	id, key := s.mint(object{"name": "bot", "permission": "read_write", "guildIds": []string{g}})
	a, b, c := newID(), newID(), newID()
	s.apart(g)
	s.create(key, g, a, 100)
	s.patch(key, g, a, 250)
	s.patch(key, g, a, object{"increment": 7})
	s.patch(key, g, a, object{"decrement": 9999})
	putResults(t, s.Do("PUT", bulkPath(g), key, object{"mode": "set", "members": []object{{"userId": a, "xp": 5}, {"userId": b, "xp": 0}, {"userId": c, "xp": 9}}}))
	putResults(t, s.Do("PUT", bulkPath(g), key, object{"mode": "higher", "members": []object{{"userId": a, "xp": 1}}})) // changes nothing
	s.leave(key, g, c)
	s.setPresence(key, g, false, 0, nil, c) // changes nothing
	s.Do("DELETE", memberPath(g, c), key, nil).Want(t, 204)
	deleted := s.Do("DELETE", memberPath(g, a), key, nil, because("Spam: 50 % \"ünï\" 🙂")).Want(t, 204)
	s.Do("DELETE", memberPath(g, a), key, nil).Want(t, 404)
	want := []string{
		"deleted " + a + " 5 - -", "deleted " + c + " 9 - -", "presence - - - 1", "bulk - - - 3",
		"decremented " + a + " 257 0 -", "incremented " + a + " 250 257 -", "set " + a + " 100 250 -", "created " + a + " - 100 -",
	}
	records := s.wantAudit(g, want...)
	newest := records[0]
	if newest.Actor.Kind != "key" || newest.Actor.ID != id || newest.Actor.Name != "bot" || newest.Reason == nil || *newest.Reason != "Spam: 50 % \"ünï\" 🙂" ||
		newest.RequestID != deleted.Header.Get("X-Request-Id") || time.Since(newest.At).Abs() > time.Minute || records[1].Reason != nil {
		t.Errorf("the newest record is %+v, want the deletion's request id and time, and no reason before it", newest)
	}
	s.checkpoint(g, "all is archived")
	if again := s.wantAudit(g, slices.Insert(slices.Clone(want), 0, "checkpoint - - - 1")...); again[1].ID != newest.ID || *again[1].Reason != *newest.Reason {
		t.Errorf("the archive has the record %+v, want %+v as in the journal", again[1], newest)
	}
}

func auditOfGuild(t *testing.T, s *service) {
	g := s.guild(object{"name": "Gophers"})
	id, key := s.mint(object{"name": "bot", "permission": "read_write", "ownerId": "900000000000000009"})
	owner := "900000000000000009"
	s.admin("PUT", "/keys/"+id+"/guilds/"+g, nil, because("the bot")).Want(t, 204)
	s.admin("PUT", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204) // granted already
	s.admin("PUT", "/guilds/"+g, settings(object{"name": "Moles"})).Want(t, 200)
	s.admin("PUT", "/guilds/"+g, settings(object{"name": "Moles"})).Want(t, 200) // no change
	s.Do("PUT", "/v2/guilds/"+g+"/directory", key, object{"name": "Bears", "roles": []object{{"id": owner, "name": "R"}}}).Want(t, 204)
	s.apart(g)
	s.create(key, g, newID(), 5)
	point := s.checkpoint(g, "one")
	s.apart(g)
	s.create(key, g, newID(), 6)
	s.replaced("/guilds/" + g + "/reset")
	s.replaced("/guilds/" + g + "/checkpoints/" + point.ID + "/restore")
	begun := s.beginImport(g, object{})
	s.finishImport(g, begun.ID)
	s.admin("DELETE", "/keys/"+id, nil).Want(t, 204)
	records := s.audit(g, "limit=100").Records
	got := make([]string, len(records))
	for i, r := range records {
		got[i] = r.Action
		if r.Count != nil {
			got[i] += fmt.Sprint(" ", *r.Count)
		}
	}
	want := []string{
		"ungranted", "imported 3", "restored 1", "reset 2", "created", "checkpoint 1", "created", "directory", "settings", "granted", "settings",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the actions are %q, want %q", got, want)
	}
	granted, changed, described := records[9], records[8], records[7]
	if granted.Actor.Kind != "operator" || granted.Actor.ID != "operator" || granted.UserID == nil || *granted.UserID != owner || *granted.Reason != "the bot" {
		t.Errorf("the grant's record is %+v, want the operator, user %s and the reason \"the bot\"", granted, owner)
	}
	if fmt.Sprint(changed.Before, changed.After) != "map[name:Gophers] map[name:Moles]" {
		t.Errorf("the settings' record is from %v to %v, want from Gophers to Moles", changed.Before, changed.After)
	}
	if described.Actor.Kind != "key" || fmt.Sprint(described.Before) != "map[name:Moles roles:[]]" {
		t.Errorf("the directory's record is from %v to %v by %+v, want a key's, before it Moles without roles",
			described.Before, described.After, described.Actor)
	}
	if created := records[10]; created.Before != nil || created.After == nil {
		t.Errorf("the record of the guild's creation is from %v to %v, want from null", created.Before, created.After)
	}
}

func auditThreshold(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.apart(g)
	s.create(key, g, u, 5)
	for _, more := range []int{999, 1000, 1001} {
		s.patch(key, g, u, object{"increment": more})
	}
	s.patch(key, g, u, object{"decrement": 1})
	s.wantAudit(g, "decremented "+u+" 3005 3004 -", "incremented "+u+" 2004 3005 -", "incremented "+u+" 1004 2004 -", "created "+u+" - 5 -")
}

func auditReasons(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	long := strings.Repeat("ü", 512)
	wantFailure(t, s.Do("PATCH", memberPath(g, newID()), "", object{"xp": 1}, because("%")), 401) // the key is checked before the reason
	s.Do("PATCH", memberPath(g, u), key, object{"xp": 6}, because(long)).Want(t, 200)
	s.Do("PATCH", memberPath(g, u), key, object{"xp": 7}, apitest.Header("X-Audit-Log-Reason", "a+b c")).Want(t, 200)
	if got := s.audit(g, "").Records; *got[1].Reason != long || *got[0].Reason != "a+b c" {
		t.Errorf("the reasons are %q and %q, want %q and %q", *got[1].Reason, *got[0].Reason, long, "a+b c")
	}
}

func auditFilters(t *testing.T, s *service) {
	g, u, v := s.guild(nil), newID(), newID()
	one, other := s.key(g), s.key(g)
	s.create(one, g, u, 1)
	s.create(other, g, v, 2)
	s.checkpoint(g, "some are archived, and some are not")
	s.apart(g)
	s.patch(other, g, u, 3)
	s.patch(one, g, v, 4)
	all := s.audit(g, "").Records
	if len(all) < 6 || all[0].Actor.ID == all[1].Actor.ID {
		t.Fatalf("the log is %+v, want 6 records of two actors", all)
	}
	actions := func(query string) (got []string) {
		for _, r := range s.audit(g, query).Records {
			got = append(got, r.Action)
		}
		return got
	}
	for query, want := range map[string]string{
		"userId=" + u: "[set created]", "actorId=" + all[0].Actor.ID: "[set created]", "userId=" + u + "&actorId=" + all[0].Actor.ID: "[created]",
		"userId=" + newID(): "[]", "until=2020-01-01T00:00:00Z": "[]", "since=2999-01-01T00:00:00Z": "[]",
		"limit=2&until=2999-01-01T00:00:00%2B02:00": "[set set]", "userId=" + u + "&before=" + all[0].ID + "&limit=1": "[set]",
		"since=" + all[1].At.Format(time.RFC3339Nano) + "&until=" + all[1].At.Add(time.Millisecond).Format(time.RFC3339Nano) + "&userId=" + u: "[set]",
		"since=" + all[1].At.Add(time.Millisecond).Format(time.RFC3339Nano) + "&userId=" + u:                                                  "[]",
	} {
		if got := fmt.Sprint(actions(query)); got != want {
			t.Errorf("the log filtered by %q is %s, want %s", query, got, want)
		}
	}
}

func auditOfDeletedGuild(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 1)
	s.replaced("/guilds/" + g + "/reset")
	s.create(key, g, u, 2)
	if got := len(s.audit(g, "").Records); got < 4 {
		t.Errorf("%d records are left after a reset, want at least 4", got)
	}
	s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204)
	wantFailure(t, s.admin("GET", auditPath(g, ""), nil), 404)
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	if got := s.audit(g, "").Records; len(got) != 1 || got[0].Action != "settings" {
		t.Errorf("the guild created again has the log %+v, want its creation only", got)
	}
}
