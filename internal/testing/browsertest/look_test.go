package browsertest

import (
	"strings"
	"testing"
)

// cutRings finds elements whose focus ring is clipped by an ancestor.
const cutRings = `[...document.querySelectorAll("main a, main button, main input, main select, main textarea, main summary, main [tabindex='0']")].filter((e) => {
	if (!e.checkVisibility()) return false;
	e.focus({ focusVisible: true, preventScroll: true });
	if (document.activeElement !== e) return false;
	const style = getComputedStyle(e), reach = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth), box = e.getBoundingClientRect();
	for (let up = e.parentElement; up && up !== document.body; up = up.parentElement) {
		if (getComputedStyle(up).overflowX === "visible" && getComputedStyle(up).overflowY === "visible") continue;
		const room = up.getBoundingClientRect();
		if (up.scrollWidth > up.clientWidth || up.scrollHeight > up.clientHeight) continue;
		if (box.left - reach < room.left || box.right + reach > room.right || box.top - reach < room.top || box.bottom + reach > room.bottom) return true;
	}
	return false;
}).map((e) => e.outerHTML.slice(0, 120)).join("\n")`

// unevenInputs finds adjacent inputs of different heights.
const unevenInputs = `[...document.querySelectorAll("main .grid, main .row, main .board__tools, main .pager__page")].map((row) => {
	const inputs = [...row.querySelectorAll("input:not([type=checkbox], [type=radio], [type=hidden]), select")].filter((e) => e.checkVisibility());
	return new Set(inputs.map((e) => e.getBoundingClientRect().height)).size > 1 ? row.outerHTML.slice(0, 120) : "";
}).join("")`

// faintPlaceholders finds fields whose placeholder does not have the muted text's colour, whose contrast axe checks elsewhere.
const faintPlaceholders = `(() => {
	const muted = document.createElement("i");
	muted.className = "muted";
	document.body.append(muted);
	const want = getComputedStyle(muted).color;
	return [...document.querySelectorAll("[placeholder]")].filter((e) => {
		const { color, opacity } = getComputedStyle(e, "::placeholder");
		return color !== want || opacity !== "1";
	}).map((e) => e.outerHTML).join("\n");
})()`

// brokenDates finds dates on more than one line.
const brokenDates = `[...document.querySelectorAll("main time")].filter((e) => e.getClientRects().length > 1).map((e) => e.outerHTML).join("\n")`

// cutRows finds rows of a board with a name or number that does not fit, or a dot on its own line above the name.
const cutRows = `[...document.querySelectorAll("#board > li")].filter((row) => {
	const room = row.getBoundingClientRect(), dot = row.querySelector(".dot"), name = row.querySelector(".who__name");
	return [...row.querySelectorAll(".num, .who__name")].some((e) => [...e.getClientRects()].some((line) => line.left < room.left || line.right > room.right) || e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
		|| dot && getComputedStyle(dot).position === "static" && dot.getBoundingClientRect().bottom <= name.getClientRects()[0].top;
}).map((row) => row.textContent.slice(0, 80)).join("\n")`

func TestPagesHaveNoClippedOrBrokenParts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.busyGuild()
	s.adaManages(g)
	b := s.tab(t)
	b.signIn("/profile")
	b.fill("#name", "my bot")
	b.press("Create key")
	b.press("Done")
	b.see("Rename")
	key := eval[string](b, "location.pathname")
	for _, path := range []string{"/leaderboard/gophers", "/leaderboard/gophers?period=week", "/leaderboard/gophers?page=2", "/leaderboard/gophers?member=me", "/leaderboard/gophers/search?q=gopher", "/guilds/" + g + "/settings", "/profile", key, "/profile/history"} {
		for _, width := range []int{360, 1280} {
			b.look(width, "light")
			b.open(path)
			if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s at %d px scrolls sideways by %d px", path, width, over)
			}
			for what, expression := range map[string]string{
				"the ring is cut off around": cutRings, "of different heights are inputs in": unevenInputs,
				"the placeholder is faint of": faintPlaceholders, "not on one line is": brokenDates, "does not fit, or has a dot of its own line:": cutRows,
			} {
				if found := eval[string](b, expression); strings.TrimSpace(found) != "" {
					t.Errorf("%s at %d px: %s\n%s", path, width, what, found)
				}
			}
		}
	}
}
