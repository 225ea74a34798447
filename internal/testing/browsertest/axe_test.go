package browsertest

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe/axe.min.js
var axeSource string

// violation is a rule of accessibility that a page breaks.
type violation struct {
	ID, Help string
	Nodes    []string
}

// axeRun runs every rule of axe for WCAG 2.2 A and AA and its best practices, and returns the violations with their places.
const axeRun = `axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
	.then((r) => r.violations.map((v) => ({ID: v.id, Help: v.help, Nodes: v.nodes.map((n) => n.html + " " + n.failureSummary)})))`

// violations runs axe on the page, scrolled to its top, because the sticky header covers a part of a scrolled page. The driver injects axe, so
// the page's content security policy does not matter.
func (b *tab) violations() []violation {
	b.t.Helper()
	if !eval[bool](b, "'axe' in window") {
		b.do(chromedp.Evaluate[chromedp.Void](axeSource))
	}
	b.do(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0)"))
	return eval[[]violation](b, axeRun, chromedp.EvalAwaitPromise)
}

// accessible fails the test for every rule that the page breaks.
func (b *tab) accessible(where string) {
	b.t.Helper()
	for _, v := range b.violations() {
		b.t.Errorf("%s: %s (%s):\n%s", where, v.Help, v.ID, strings.Join(v.Nodes, "\n"))
	}
}

func TestAxeReportsABrokenPage(t *testing.T) {
	t.Parallel()
	b := newSite(t).tab(t)
	b.open("/")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("label").remove(); document.querySelector(".lead").style.color = "#eee"`))
	found := map[string]bool{}
	for _, v := range b.violations() {
		found[v.ID] = true
	}
	if !found["label"] || !found["color-contrast"] {
		t.Errorf("axe reports only %v, want label and color-contrast", found)
	}
}
