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

func TestTheAuditLogOfAGuild(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	b.get(dataAddress).want(200, "Audit log", "No changes are recorded.")
	const user = "500000000000000001"
	b.upload("from", "csv", "mode", "set", "file", oneMember).want(200)
	b.post(dataAddress, url.Values{"do": {"confirm"}, "job": {b.settled().job()}}).want(200)
	b.settled()
	b.post("/leaderboard/"+string(public)+"/members/"+user+"/xp", url.Values{"op": {"set"}, "xp": {"1250"}, "reason": {"the <b>contest</b>"}, "confirm": {"yes"}}).want(200)

	set := fmt.Sprintf(`<bdi>Ada L.</bdi></b> set the XP of <a href="/leaderboard/%s/members/%s">%s</a>: 900 XP → 1,250 XP`, public, user, user)
	b.get(dataAddress).want(200, set, "“<bdi>the &lt;b&gt;contest&lt;/b&gt;</bdi>”", "<bdi>Ada L.</bdi></b> imported 1 member", "· by "+ada)
	for query, wants := range map[string][2]string{
		"member=" + user:                {set, "imported 1 member"},
		"actor=" + ada + "&since=1":     {"imported 1 member", "No changes"},
		"actor=900000000000000009":      {"No changes are recorded for this filter.", set},
		"member=%20" + user + "&since=": {set, "imported 1 member"},
	} {
		if got := b.get(dataAddress+"?"+query).want(200, wants[0]); strings.Contains(got.text, wants[1]) {
			t.Errorf("%s shows %q", query, wants[1])
		}
	}
	b.get(dataAddress+"?member=abc").want(422, "A member&#39;s ID has 17 to 19 digits.", `value="abc"`)
	b.get(dataAddress+"?since=2").want(422, "Choose one of the times in the list.")
	b.get(dataAddress + "?before=x").want(400)
	w.browser().get(dataAddress + "?member=" + user).want(401)
}

var olderLink = regexp.MustCompile(`href="([^"]+)">Older changes`)

// Each record is on one part, newest first.
func TestOlderPartsOfTheAuditLog(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	by := audit.With(t.Context(), audit.By{Actor: audit.TheOperator})
	for i := range 25 {
		document := fmt.Sprintf(`{"name":"Gophers","memberCount":5,"ownerId":"900000000000000001","xpPerMessageMax":%d}`, 100+i)
		settings, err := guild.Parse(public, []byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.archive.PutGuild(by, settings); err != nil {
			t.Fatal(err)
		}
	}
	first := b.get(dataAddress).want(200, "<bdi>Operator</bdi></b> changed the settings")
	older := olderLink.FindStringSubmatch(first.text)
	if older == nil {
		t.Fatal("there is no way to older changes")
	}
	second := b.get(strings.ReplaceAll(strings.TrimSuffix(older[1], "#audit"), "&amp;", "&")).want(200)
	for i := range 25 {
		text := fmt.Sprintf("&#34;xpPerMessageMax&#34;:%d}</code></p></details>", 100+i)
		if n := strings.Count(first.text, text) + strings.Count(second.text, text); n != 1 {
			t.Errorf("the change to %d is shown %d times", 100+i, n)
		}
	}
}
