package app_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

var versionField = regexp.MustCompile(`name="version" value="(\d+)"`)

// A manager's change reaches the replica that it was not made on, which has the guild in memory.
func TestAManagersChangeIsInForceOnOtherReplicas(t *testing.T) {
	t.Parallel()
	provider := testenv.OAuth(t)
	environ := append(onServers(t), provider.Environ()...)
	here, there := start(t, environ...), start(t, environ...)
	provider.Register(here.app.URL() + "/sign-in/callback")
	g := here.guild(object{"visibility": "private", "name": "Moles"})
	provider.SetUser(object{"id": newID(), "username": "ada"}, []object{{"id": g, "name": "Moles", "owner": true, "permissions": "0"}})
	there.Do("GET", boardPath(g, 1), "", nil).Want(t, 401)

	browser, page := newBrowser(t), here.app.URL()+"/guilds/"+g+"/settings"
	_, text := visit(t, browser, "GET", here.app.URL()+"/sign-in/provider?next="+url.QueryEscape("/guilds/"+g+"/settings"), "")
	version := versionField.FindStringSubmatch(text)
	if version == nil {
		t.Fatalf("there is no form: %s", text)
	}
	form := url.Values{
		"do": {"save"}, "version": {version[1]}, "enabled": {"on"}, "visibility": {"public"}, "curve": {"amari"}, "xpGainInterval": {"1"}, "xpGainInterval.unit": {"minutes"},
		"xpPerMessageMin": {"15"}, "xpPerMessageMax": {"40"}, "xpGlobalMultiplier": {"1"}, "timeZone": {"UTC"},
	}
	if status, text := visit(t, browser, "POST", page, form.Encode()); status != 200 || !strings.Contains(text, "Saved.") {
		t.Fatalf("saving: %d %s", status, text)
	}
	here.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
	eventually(t, "the change is in force on the other replica", func() bool {
		got, err := there.quick("GET", boardPath(g, 1), "", "")
		return err == nil && got.Status == 200
	})
	// The same form again wants nothing new; with a change it is of an older version.
	if status, text := visit(t, browser, "POST", page, form.Encode()); status != 200 || !strings.Contains(text, "Saved.") {
		t.Errorf("saving the same again: %d %s", status, text)
	}
	form.Set("visibility", "private")
	if status, text := visit(t, browser, "POST", page, form.Encode()); status != 409 || !strings.Contains(text, "changed while you were editing") {
		t.Errorf("saving what is out of date: %d %s", status, text)
	}
}
