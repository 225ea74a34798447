package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"levelboard/internal/testing/testenv"
)

// patience is how long a page may take to become what a test expects, on a machine that does much else.
const patience = time.Minute

// tab is a tab of a browser of its own: nobody else has its cookies.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex
	problems []string
}

// tab opens one. When the test ends it fails if a script threw or a page broke its content security policy.
func (s *site) tab(t *testing.T) *tab {
	t.Helper()
	shared, err := browser()
	if err != nil {
		t.Fatalf("start Chromium (run `make setup`, or install it): %v", err)
	}
	ctx, closeTab := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx, base: s.url}
	// Tabs of other tests take the focus of the browser's windows: without this, what is typed then is lost.
	focused := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
	if err := chromedp.Do(ctx, focused); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			t.Error("in the browser:", problem)
		}
	})
	return b
}

// note remembers what a page did that it should not. An address that was not found or not reached does not count.
func (b *tab) note(event any) {
	var problem string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			problem += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError || e.Entry.Source == log.EntrySourceNetwork {
			return
		}
		problem = e.Entry.Text
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, problem)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\non %s", err, b.glance())
	}
}

// eval returns what a JavaScript expression is in the page.
func eval[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.t.Fatalf("%s: %v", expression[:min(len(expression), 200)], err)
	}
	return value
}

// glance is the page in short, for a message.
func (b *tab) glance() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + (document.body?.innerText ?? '').slice(0, 2000)"))
	if err != nil {
		return err.Error()
	}
	return text
}

// open goes to an address of the service and waits until it is loaded. As anybody would, it tries again when the service says
// that its storage does not answer in time, as it is to do on a machine that stands still.
func (b *tab) open(path string) {
	b.t.Helper()
	testenv.Wait(b.t, "the service answers", func() bool {
		b.do(chromedp.Navigate(b.base + path))
		return eval[int](b, `performance.getEntriesByType("navigation")[0].responseStatus`) != http.StatusServiceUnavailable
	})
}

// text is what a reader of the page can see.
func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, "document.body.innerText")
}

// see waits until the page shows these texts.
func (b *tab) see(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.until(fmt.Sprintf("document.body?.innerText.replace(/\\s+/g, ' ').includes(%q)", text))
	}
}

// until waits for a JavaScript expression to hold.
func (b *tab) until(expression string) {
	b.t.Helper()
	wait(b, "Boolean("+expression+")", func(holds bool) bool { return holds })
}

// wait waits until a JavaScript expression is what is wanted, and returns that. It may fail while another page is being loaded.
func wait[T any](b *tab, expression string, wanted func(T) bool) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
		if err == nil && wanted(value) {
			return value
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("never came: %s (%v)\non %s", expression, err, b.glance())
		case <-tick.C:
		}
	}
}

// press clicks the first visible link or button whose text, or the end of it, this is.
func (b *tab) press(text string) {
	b.t.Helper()
	b.click(fmt.Sprintf(`[...document.querySelectorAll("a, button, summary")].find((e) =>
		e.checkVisibility() && (" " + e.innerText.replace(/\s+/g, " ").trim()).endsWith(%q))`, " "+text))
}

// pick clicks the first element that a selector finds.
func (b *tab) pick(selector string) {
	b.t.Helper()
	b.click(fmt.Sprintf("document.querySelector(%q)", selector))
}

// click clicks the element that a JavaScript expression is, once it is there and its page is loaded as a whole. The click goes
// to a place, not to a node: the browser gives nodes other numbers whenever it likes while a page comes to be.
func (b *tab) click(element string) {
	b.t.Helper()
	at := wait(b, fmt.Sprintf(`(() => {
		const found = document.readyState === "complete" && %s;
		if (!found) return [];
		found.scrollIntoViewIfNeeded();
		const { x, y, width, height } = found.getClientRects()[0];
		return [x + width / 2, y + height / 2];
	})()`, element), func(at []float64) bool { return len(at) == 2 })
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// fill types a text into the field that a selector finds, in the place of what was there.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	field := fmt.Sprintf("document.querySelector(%q)", selector)
	// A page that was just sent for shows its fields before its scripts listen to them.
	b.until("document.readyState === 'complete' && " + field)
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("%[1]s.value = '', %[1]s.focus()", field)), chromedp.KeyEvent(text))
}

// selectOption chooses an option of a list, as a press of it does.
func selectOption(selector, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf("(() => { const list = document.querySelector(%q); list.value = %q; list.dispatchEvent(new Event('input', { bubbles: true })); list.dispatchEvent(new Event('change', { bubbles: true })) })()", selector, value))
}

// signIn signs Ada in through the provider, from the button at the top of a page.
func (b *tab) signIn(path string) {
	b.t.Helper()
	b.open(path)
	b.press("Sign in")
	b.see("Ada Lovelace")
}

// look sets the width of the window and the scheme of colours, light or dark.
func (b *tab) look(width int, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(width), 800), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// withoutScript makes pages loaded from now on do without their scripts.
func (b *tab) withoutScript() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// offline sets the conditions of the tab's network; without any it is as it was.
func (b *tab) offline(conditions ...*network.Conditions) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: append([]*network.Conditions{}, conditions...)})
		return err
	}))
}

// lacks fails if the page shows any of these texts.
func (b *tab) lacks(texts ...string) {
	b.t.Helper()
	shown := b.text()
	for _, text := range texts {
		if strings.Contains(shown, text) {
			b.t.Errorf("the page shows %q:\n%s", text, shown)
		}
	}
}
