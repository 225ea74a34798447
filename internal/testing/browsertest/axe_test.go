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

// axeRun runs every rule that axe has for WCAG 2.2 A and AA and its best practices, and tells what breaks them, and where.
const axeRun = `axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
	.then((r) => r.violations.map((v) => ({ID: v.id, Help: v.help, Nodes: v.nodes.map((n) => n.html + " " + n.failureSummary)})))`

// violations runs axe on the page, from its top: what the sticky header covers of a page that is scrolled is chance. The driver puts axe into the page: what the page's content security policy
// allows its own scripts does not matter.
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

func TestAxeFindsWhatIsSpoiled(t *testing.T) {
	t.Parallel()
	b := newSite(t).tab(t)
	b.open("/")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("label").remove(); document.querySelector(".lead").style.color = "#eee"`))
	found := map[string]bool{}
	for _, v := range b.violations() {
		found[v.ID] = true
	}
	if !found["label"] || !found["color-contrast"] {
		t.Errorf("found only %v", found)
	}
}
