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
	b.get(memberPath(2)).want(200, ">#3</b>", "Set XP", "card.svg", "/v2/levels/"+string(public)+"/users/"+string(memberID(2)), `value="4999998"`)
	got := b.post(memberPath(2)+"/xp", confirmed("xp", "6000000")).want(200, "XP updated", ">#1</b>", "<b>6,000,000</b> XP", "<b>123,456</b> messages")
	if got.path != memberPath(2)+"?done=xp" {
		t.Errorf("it led to %s", got.path)
	}
	if log := s.log.String(); !strings.Contains(log, "manager="+ada) || !strings.Contains(log, "after=6000000") {
		t.Errorf("the log does not say who did it: %s", log)
	}
	for _, form := range []url.Values{nil, {"xp": {"5"}}, confirmed("xp", "-1"), confirmed("xp", "2147483648"), confirmed("xp", "1.5"), confirmed("xp", ""), {"xp": {"5"}, "confirm": {"no"}}} {
		b.post(memberPath(2)+"/xp", form).want(422, "field--bad", `aria-invalid="true"`)
	}
	b.get(memberPath(2)).want(200, "<b>6,000,000</b> XP")
	b.post("/leaderboard/gophers/members/"+ada+"/xp", confirmed("xp", "5")).want(404, "ranked yet")
}

func TestAManagerResetsAMember(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	b.signIn()
	b.post(memberPath(1)+"/remove", nil).want(422, "Tick the box")
	got := b.post(memberPath(1)+"/remove", confirmed()).want(200, "Member reset", `<span id="total">2</span>`).lacks(string(memberID(1)))
	if got.path != "/leaderboard/gophers?done=removed" {
		t.Errorf("it led to %s", got.path)
	}
	b.get(memberPath(1)).want(404)
	b.post(memberPath(1)+"/remove", confirmed()).want(404)
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
	for _, change := range []string{"/xp", "/remove"} {
		in.post(memberPath(1)+change, confirmed("xp", "5")).want(403, "Only the owner")
		out.post(memberPath(1)+change, confirmed("xp", "5")).want(401)
		in.post(memberPath(1)+change, confirmed("xp", "5"), "Origin", "https://evil.example").want(403, "another site")
		in.get(memberPath(1) + change).want(405)
	}
	out.get(memberPath(1)).want(200, "4,999,999").lacks("Manage member")
}
