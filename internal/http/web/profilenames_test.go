package web_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/storetest"
)

func TestHostileNamesOfKeysStayNames(t *testing.T) {
	s := newSite(t, options{})
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	s.guilds[public].Name = hostile
	b := s.browser()
	b.signIn()
	k := b.makeKey("name", hostile, "guild", string(public))
	pages := []page{
		k.page, b.get("/profile"), b.get(k.address), b.get(k.address + "/delete"), b.get("/profile/history"),
		b.post("/profile", keyFields("name", hostile, "expiry", "")),
		b.post(k.address+"/rotate", field("overlap", "24h")),
		b.post(k.address, field("name", strings.Repeat(hostile, 3))),
		b.post(k.address+"/ungrant", field("guild", string(public))),
		b.get("/profile/history?done=" + hostile[:2] + "renamed"),
	}
	for _, p := range pages {
		p.lacks("<script>alert", "<img src=x")
		if p.header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s has the Content-Security-Policy %q, want %q", p.path, p.header.Get("Content-Security-Policy"), policy)
		}
		if found := inline.FindString(p.text); found != "" {
			t.Errorf("%s has %q, which the policy blocks", p.path, found)
		}
	}
}

func TestPagesOfManyKeysAndCommunitiesAreSmall(t *testing.T) {
	s := newSite(t, options{})
	var in []any
	grants := []string{}
	for n := range 200 {
		g := id.Guild(fmt.Sprintf("3%017d", n))
		name := fmt.Sprintf("A community with quite a long name, number %d", n)
		s.guilds[g] = &guild.Guild{Settings: guild.Settings{ID: g, Name: name, Enabled: true}}
		in = append(in, map[string]any{"id": string(g), "name": name, "owner": true, "permissions": "8"})
		storetest.PutGuild(t, s.archive, g)
		if n >= 100 {
			grants = append(grants, "guild", string(g))
		}
	}
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, in)
	b := s.browser()
	b.signIn()
	for n := range 24 {
		b.makeKey("name", fmt.Sprintf("A key with quite a long name, number %d", n), "expiry", "7")
	}
	k := b.makeKey(grants...)
	b.post(k.address+"/rotate", field("overlap", "24h")).want(200)
	list := b.get("/profile").want(200, "and 97 more")
	own := b.get(k.address).want(200)
	history := b.get("/profile/history").want(200, "and 97 more", "number 0")
	b.post(k.address+"/delete", nil).want(200)
	form := b.get("/profile").want(200, "number 199")
	for _, p := range []page{list, own, history, form} {
		if len(p.text) > 100<<10 {
			t.Errorf("%s has %d bytes, want at most 100 KiB", p.path, len(p.text))
		}
	}
}

func TestTheHistoryHasPages(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	k := b.makeKey("name", "name 0")
	for n := range 60 {
		b.still().post(k.address, field("name", fmt.Sprintf("name %d", n+1))).want(303)
	}
	b.get("/profile").want(200, "to <bdi>name 60</bdi>", "to <bdi>name 56</bdi>").lacks("to <bdi>name 55</bdi>")
	first := b.get("/profile/history").want(200, "to <bdi>name 60</bdi>", "to <bdi>name 11</bdi>").lacks("to <bdi>name 10</bdi>", "Newest</a>")
	_, after, ok := strings.Cut(first.text, `href="/profile/history?before=`)
	if !ok {
		t.Fatal("the history has no link to its next page")
	}
	number, _, _ := strings.Cut(after, `"`)
	b.get("/profile/history?before="+number).want(200, "to <bdi>name 10</bdi>", "created <bdi>name 0</bdi>", "Newest</a>").lacks("to <bdi>name 11</bdi>", "Older</a>")
	b.get("/profile/history?before=1").want(200, "past the end")
}
