package web_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisstore"
)

const (
	toSettings = `<a href="/guilds/` + string(public) + `/settings">Settings`
	toBoard    = `<a class="button" href="/leaderboard/gophers">Back to the leaderboard</a>`
)

func TestAManagerIsLedToTheirCommunity(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.get("/").want(200).lacks("Communities you manage")
	b.get("/leaderboard/gophers").want(200).lacks(toSettings)
	b.signIn()
	b.get("/").want(200, "Communities you manage", "<bdi>Gophers</bdi>", `<a href="/leaderboard/`+string(public)+`">Leaderboard`, toSettings).lacks("Moles")
	b.get("/leaderboard/gophers").want(200, "You manage this</span>"+toSettings+"</a>")
	s.guilds.change(public, nil)
	b.get("/").want(200, "Nothing of yours yet", "send its ID to the operator of this service").lacks(toSettings)
}

func TestNothingLeadsToASignInThatIsOff(t *testing.T) {
	s := newSite(t, options{noOAuth: true})
	b := s.browser()
	const off = "Sign-in is disabled on this service."
	b.get("/leaderboard/gophers").want(200).lacks("Find me")
	b.get("/leaderboard/gophers?member=me").want(401, off, toBoard).lacks(`href="/sign-in?next=`, "Please sign in")
	b.get("/profile").want(401, off).lacks(`href="/sign-in?next=`)

	on := newSite(t, options{}).browser()
	on.get("/leaderboard/gophers").want(200, "Find me")
	on.get("/leaderboard/gophers?member=me").want(401, `href="/sign-in?next=`).lacks(off)
}

func TestErrorsLinkToTheNextStep(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	b.get("/leaderboard/gophers?page=0").want(400, "The page must be", toBoard)
	b.get("/nowhere").want(404).lacks("Back to the leaderboard")
	b.get("/leaderboard/nobody").want(404, "Check the address, or ask the operator to set it up.").lacks("Back to the leaderboard")
	b.get("/leaderboard/"+string(closed)).want(403, "To use another account, sign out first.").lacks("Back to the leaderboard")
}

// The button's name says what a press does, so the button has no pressed state.
func TestTheButtonOfTheLiveRowsIsNamedByWhatItDoes(t *testing.T) {
	s := newSite(t, options{})
	s.browser().get("/leaderboard/gophers").want(200, `id="live" data-live="on" hidden>Pause</button>`)
}

func TestTheStartIsShownWithoutTheArchive(t *testing.T) {
	s := newSite(t, options{with: func(s *site, _ *redisstore.Store) { s.deps.Guilds = awayGuilds{s.guilds} }})
	b := s.browser()
	b.get("/sign-in/provider?next=/").want(200, "Ada L.", "Find a leaderboard").lacks("Communities you manage")
}

// awayGuilds are guilds whose archive does not answer.
type awayGuilds struct{ fakeGuilds }

func (awayGuilds) ByID(context.Context, id.Guild) (*guild.Guild, error) {
	return nil, fault.Down("read a guild", errors.New("away"))
}

// The start also lists communities that only their settings assign to the user.
func TestTheStartListsCommunitiesManagedBySettings(t *testing.T) {
	w := newSettingsWorld(t)
	for _, user := range []string{"900000000000000001", "900000000000000002"} {
		w.provider.SetUser(map[string]any{"id": user, "username": "bo", "global_name": "Bo", "avatar": nil}, []any{})
		b := w.browser()
		b.get("/sign-in/provider?next=/").want(200, "Gophers &lt;i&gt;", toSettings)
		if moles := strings.Contains(b.get("/").text, "<bdi>Moles</bdi>"); moles != (user == "900000000000000001") {
			t.Errorf("the start page of %s has Moles: %v, want it for the owner only", user, moles)
		}
	}
	w.provider.SetUser(map[string]any{"id": "900000000000000003", "username": "cy", "global_name": "Cy", "avatar": nil}, []any{})
	w.browser().get("/sign-in/provider?next=/").want(200, "Nothing of yours yet").lacks(toSettings)
}
