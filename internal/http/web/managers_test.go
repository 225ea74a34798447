package web_test

import (
	"net/url"
	"strings"
	"testing"
)

func confirmed(more ...string) url.Values {
	form := url.Values{"confirm": {"yes"}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

func TestAManagerSetsXP(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	b.signIn()
	b.get(memberPath(2)).want(200, ">#3</b>", "Change XP", "card.svg", "/v2/levels/"+string(public)+"/users/"+string(memberID(2)))
	got := b.post(memberPath(2)+"/xp", confirmed("op", "set", "xp", "6000000", "reason", "a contest")).want(200, "XP updated: 4,999,998 before, 6,000,000 now.", ">#1</b>", "<b>6,000,000</b> XP", "<b>123,456</b> messages")
	if got.path != memberPath(2)+"?before=4999998&after=6000000" {
		t.Errorf("setting XP led to %s, want the member with before and after", got.path)
	}
	if log := s.log.String(); strings.Contains(log, ada) || !strings.Contains(log, "after=6000000") {
		t.Errorf("the log lacks the change, or names the user, who belongs in the audit log only: %s", log)
	}
	for _, form := range []url.Values{nil, {"xp": {"5"}}, confirmed("op", "set", "xp", "-1"), confirmed("op", "set", "xp", "2147483648"),
		confirmed("op", "set", "xp", "1.5"), confirmed("op", "set", "xp", ""), confirmed("xp", "5"), confirmed("op", "lose", "xp", "5"),
		confirmed("op", "set", "xp", "5", "reason", strings.Repeat("é", 513)), confirmed("op", "set", "xp", "5", "reason", "\xff")} {
		b.post(memberPath(2)+"/xp", form).want(422, "field--bad", `aria-invalid="true"`)
	}
	b.get(memberPath(2)).want(200, "<b>6,000,000</b> XP")
	b.post(memberPath(2)+"/xp", confirmed("op", "take", "xp", "7000000")).want(200, "6,000,000 before, 0 now.")
	b.post(memberPath(2)+"/xp", confirmed("op", "add", "xp", "70")).want(200, "0 before, 70 now.")
	for range 2 { // a double click
		b.post(memberPath(2)+"/xp", confirmed("op", "add", "xp", "5", "once", "token")).want(200, "70 before, 75 now.", "<b>75</b> XP")
	}
	b.post(memberPath(2)+"/xp", confirmed("op", "add", "xp", "6", "once", "token")).want(200, "75 before, 81 now.")
	for _, c := range [][2]string{{"1,234", "1,234"}, {"1 235", "1,235"}, {"1.236", "1,236"}, {"1\u202f237", "1,237"}, {"12", "12"}} {
		b.post(memberPath(2)+"/xp", confirmed("op", "set", "xp", c[0])).want(200, c[1]+" now.")
	}
	for query, says := range map[string]string{
		"op=level&xp=10": "From 12 XP, level 0, to 4,150 XP, level 10.", "op=add&xp=1,000": "From 12 XP, level 0, to 1,012 XP, level ", "op=take&xp=13": "to 0 XP, level 0.",
		"op=set&xp=x": "XP must be a whole number from 0", "op=lose&xp=1": "Choose one of these.", "op=add&xp=2147483647": "to 2,147,483,647 XP",
	} {
		b.get(memberPath(2)+"/xp?"+query).want(200, says)
	}
	b.post(memberPath(2)+"/xp", confirmed("op", "level", "xp", "10")).want(200, "12 before, 4,150 now.")
	for _, wrong := range []string{"10001", "-1", "1,00", "x", "10000"} { // no XP reaches the last
		b.post(memberPath(2)+"/xp", confirmed("op", "level", "xp", wrong)).want(422, "field--bad", `value="level" selected`)
	}
	b.get(memberPath(2) + "?before=1&after=x").want(200).lacks("XP updated")
	b.post("/leaderboard/gophers/members/"+ada+"/xp", confirmed("op", "set", "xp", "5")).want(404, "ranked yet")
}

func TestAManagerResetsAMember(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	b.signIn()
	b.post(memberPath(1)+"/remove", url.Values{"reason": {"a spammer"}}).want(422, "Tick the box", "<details open>", `id="remove-reason" name="reason" value="a spammer"`)
	b.post(memberPath(1)+"/remove", confirmed("remove", "on", "reason", strings.Repeat("é", 513))).want(422, `id="remove-reason-error"`)
	got := b.post(memberPath(1)+"/remove", confirmed("remove", "on")).want(200, "Member reset", `<span id="total">2</span>`).lacks(string(memberID(1)))
	if got.path != "/leaderboard/gophers?done=removed" {
		t.Errorf("resetting a member led to %s, want the board with done=removed", got.path)
	}
	b.get(memberPath(1)).want(404)
	b.post(memberPath(1)+"/remove", confirmed("remove", "on")).want(404)
}

func TestOnlyManagersChangeMembers(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, []any{
		map[string]any{"id": string(public), "name": "Gophers", "owner": false, "permissions": "0"},
	})
	in, out := s.browser(), s.browser()
	in.signIn()
	in.get(memberPath(1)).want(200).lacks("Manage member")
	for _, change := range []string{"/xp", "/remove", "/hidden"} {
		in.post(memberPath(1)+change, confirmed("xp", "5")).want(403, "Only the owner")
		out.post(memberPath(1)+change, confirmed("xp", "5")).want(401)
		in.post(memberPath(1)+change, confirmed("xp", "5"), "Origin", "https://evil.example").want(403, "another site")
	}
	in.get(memberPath(1) + "/remove").want(405)
	in.get(memberPath(1)+"/xp?op=set&xp=5").want(403, "Only the owner")
	out.get(memberPath(1)).want(200, "4,999,999").lacks("Manage member")
}

func TestAManagerHidesAMemberAndShowsThemAgain(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b, other := s.browser(), s.browser()
	b.signIn()
	bad := strings.Repeat("é", 513)
	b.post(memberPath(1)+"/hidden", url.Values{"hidden": {"yes"}, "reason": {bad}}).want(422, `id="hide-reason-error"`, "<details open>")
	b.post(memberPath(1)+"/hidden", url.Values{"hidden": {"yes"}, "reason": {"left"}}).want(200, "Hidden member", "Show on the leaderboard")
	b.post(memberPath(1)+"/hidden", url.Values{"hidden": {"no"}, "reason": {bad}}).want(422, "Hidden member", `id="hide-reason-error"`)
	b.get("/leaderboard/gophers").want(200).lacks(string(memberID(1)))
	other.get(memberPath(1)).want(404).lacks("Hidden member")
	b.post(memberPath(1)+"/xp", confirmed("op", "set", "xp", "5")).want(404)
	b.post(memberPath(1)+"/hidden", url.Values{"hidden": {"no"}}).want(200, "On the leaderboard again.", "<b>4,999,999</b> XP")
	b.post("/leaderboard/gophers/members/"+ada+"/hidden", url.Values{"hidden": {"yes"}}).want(404, "ranked yet")
	b.get("/leaderboard/gophers/members/"+ada).want(404, "ranked yet")
}
