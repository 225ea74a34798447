package web_test

import (
	"testing"
)

func TestUsersSeeAndEraseTheirData(t *testing.T) {
	s := newSite(t, options{})
	s.browser().post("/profile/erase", field("confirm", "erase")).want(401)
	b, other := s.browser(), s.browser()
	b.signIn()
	other.signIn()
	k := b.makeKey("name", "my bot")
	b.get("/profile").want(200, "Your data", "1 API key, 2 sessions, and no entry in a community", "type this word: <bdi>erase</bdi>", `action="/profile/erase"`)

	data := b.get("/profile/data.json").want(200, `"userId":"`+ada+`"`, `"guilds":[]`, `"keys":[{"id":"`, `"sessions":2`, `"audit":[]`)
	if data.header.Get("Content-Disposition") == "" || data.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the download's headers are %v, want an attachment that nobody stores", data.header)
	}
	s.browser().get("/profile/data.json").want(401)

	for _, wrong := range []string{"", "yes", "erase it", "ERASE"} {
		b.post("/profile/erase", field("confirm", wrong)).want(422, "Nothing was erased", `aria-invalid="true"`, "my bot")
	}
	b.post("/profile/erase", field("confirm", "erase"), "Origin", "https://evil.example").want(403)
	b.get("/profile/erase").want(405)
	if _, works := s.works(k.secret); !works {
		t.Error("the key was deleted before the erasure was confirmed")
	}

	b.post("/profile/erase", field("confirm", " erase ")).want(200, "Your data is erased", "you are signed out").lacks("ada")
	if _, works := s.works(k.secret); works {
		t.Error("the key works after the erasure")
	}
	for _, browser := range []*browser{b, other} {
		browser.get("/profile").want(401).lacks("my bot")
	}
	// A user who signs in again starts from nothing.
	b.signIn()
	b.get("/profile").want(200, "0 API keys, 1 session").lacks("my bot")
	b.get("/profile/history").want(200).lacks("my bot")
}
