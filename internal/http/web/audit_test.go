package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/audit"
)

const auditAddress = "/guilds/" + string(public) + "/audit"

func TestTheAuditLogOfAGuild(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	b.get(auditAddress).want(200, "Audit log", "No changes are recorded.")
	const user = "500000000000000001"
	b.upload("from", "csv", "mode", "set", "file", "id,xp,name\n"+user+",900,digger <b>\n500000000000000002,5,digger two\n").want(200)
	b.post(dataAddress, url.Values{"do": {"confirm"}, "job": {b.settled().job()}}).want(200)
	b.settled()
	b.post("/leaderboard/"+string(public)+"/members/"+user+"/xp", url.Values{"op": {"set"}, "xp": {"1250"}, "reason": {"the <b>contest</b>"}, "confirm": {"yes"}}).want(200)
	b.post("/leaderboard/"+string(public)+"/members/500000000000000002/hidden", url.Values{"hidden": {"yes"}}).want(200)
	b.post("/leaderboard/"+string(public)+"/members/500000000000000002/hidden", url.Values{"hidden": {"no"}}).want(200)

	who := fmt.Sprintf(`<a href="/leaderboard/%s/members/%s"><bdi>digger &lt;b&gt;</bdi></a>`, public, user)
	set := `<bdi>Ada L.</bdi></b> set the XP of ` + who + ": 900 XP → 1,250 XP"
	hid, showed := `hid <a href="/leaderboard/200000000000000001/members/500000000000000002"><bdi>digger two`, `showed <a href="/leaderboard/200000000000000001/members/500000000000000002"><bdi>digger two`
	b.get(auditAddress).want(200, set, hid, showed, "“<bdi>the &lt;b&gt;contest&lt;/b&gt;</bdi>”", "<bdi>Ada L.</bdi></b> imported 2 members", `href="/guilds/200000000000000001/audit?actor=`+ada)
	for query, wants := range map[string][2]string{
		"member=" + user:                {set, "imported 2 members"},
		"member=@digger+%3Cb":           {set, "imported 2 members"},
		"member=digger":                 {"Which member?", "set the XP"},
		"action=imported":               {"imported 2 members", set},
		"action=set&member=" + user:     {set, hid},
		"actor=" + ada + "&since=1":     {"imported 2 members", "No changes"},
		"actor=900000000000000009":      {"No changes are recorded for this filter.", set},
		"member=%20" + user + "&since=": {set, "imported 2 members"},
	} {
		b.get(auditAddress+"?"+query).want(200, wants[0]).lacks(wants[1])
	}
	b.get(auditAddress+"?member=nobody").want(422, "No member on the board has this name.", `value="nobody"`)
	b.get(auditAddress+"?since=2").want(422, "Choose one of the times in the list.")
	b.get(auditAddress+"?action=x").want(422, "Choose one of the changes in the list.")
	b.get(auditAddress + "?before=x").want(400)
	w.browser().get(auditAddress + "?member=" + user).want(401)
	b.get("/guilds/" + string(closed) + "/audit").want(403)
}

var olderLink = regexp.MustCompile(`href="([^"]+)">Older changes`)

// Each record is on one page, newest first.
func TestTheAuditLogHasPages(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	by := audit.With(t.Context(), audit.By{Actor: audit.TheOperator})
	for i := range 25 {
		document := fmt.Sprintf(`{"name":"Gophers %d","memberCount":5,"ownerId":"900000000000000001","xpPerMessageMax":%d,"roleRewards":[{"level":5,"roles":[{"id":"300000000000000001","name":"R%d"}]}]}`, i, 100+i, i)
		settings, err := guild.Parse(public, []byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.archive.PutGuild(by, settings); err != nil {
			t.Fatal(err)
		}
	}
	first := b.get(auditAddress+"?action=settings").want(200, "<bdi>Operator</bdi></b> changed the settings",
		"Role rewards: <bdi>level 5: R23</bdi> → <bdi>level 5: R24</bdi>", "Name: <bdi>Gophers 23</bdi> → <bdi>Gophers 24</bdi>").lacks("{")
	older := olderLink.FindStringSubmatch(first.text)
	if older == nil {
		t.Fatal("the page has no link to older changes")
	}
	second := b.get(strings.ReplaceAll(older[1], "&amp;", "&")).want(200).lacks("Older changes")
	for i := range 24 {
		text := fmt.Sprintf("Maximum XP per message: <bdi>%d</bdi> → <bdi>%d</bdi>", 100+i, 101+i)
		if n := strings.Count(first.text, text) + strings.Count(second.text, text); n != 1 {
			t.Errorf("the change to %d is shown %d times, want once", 101+i, n)
		}
	}
}
