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

// patience is how long a page may take to reach an expected state on a busy machine.
const patience = time.Minute

// tab is a tab of its own browser context, so it shares no cookies.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu       sync.Mutex
	problems []string
}

// tab opens a tab. The test fails at its end if a script threw an error or a page broke its content security policy.
func (s *site) tab(t *testing.T) *tab {
	t.Helper()
	shared, err := browser()
	if err != nil {
		t.Fatalf("starting Chromium (run `make setup`, or install it): %v", err)
	}
	ctx, closeTab := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx, base: s.url}
	// Without this, tabs of other tests take the window's focus, and typed text is lost.
	focused := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
	if err := chromedp.Do(ctx, focused); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			t.Error("the browser reported:", problem)
		}
	})
	return b
}

// note records errors of a page. An address that was not found or not reached is none.
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
		b.t.Fatalf("in the browser: %v\non %s", err, b.glance())
	}
}

// eval returns the value of a JavaScript expression in the page.
func eval[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.t.Fatalf("evaluating %s: %v", expression[:min(len(expression), 200)], err)
	}
	return value
}

// glance returns the page's address and the beginning of its text, for a message.
func (b *tab) glance() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + (document.body?.innerText ?? '').slice(0, 2000)"))
	if err != nil {
		return err.Error()
	}
	return text
}

// open opens an address of the service and waits until it is loaded. It tries again if the service says that a store does not answer in time,
// as it may on a busy machine.
func (b *tab) open(path string) {
	b.t.Helper()
	testenv.Wait(b.t, "the service answers", func() bool {
		b.do(chromedp.Navigate(b.base + path))
		return eval[int](b, `performance.getEntriesByType("navigation")[0].responseStatus`) != http.StatusServiceUnavailable
	})
}

// text returns the page's visible text.
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

// until waits until a JavaScript expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	wait(b, "Boolean("+expression+")", func(holds bool) bool { return holds })
}

// wait waits until a JavaScript expression has a wanted value, and returns it. The expression may fail while a page loads.
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
			b.t.Fatalf("after %v the expression %s is not as wanted (%v)\non %s", patience, expression, err, b.glance())
		case <-tick.C:
		}
	}
}

// press clicks the first visible link or button whose text ends with text.
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

// click clicks the element of a JavaScript expression, once it exists and its page has loaded. It clicks at a place, not a node, because the
// browser may renumber nodes while a page loads.
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

// fill types a text into the field that a selector finds, replacing its content.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	field := fmt.Sprintf("document.querySelector(%q)", selector)
	// A loading page may show its fields before its scripts listen to them.
	b.until("document.readyState === 'complete' && " + field)
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("%[1]s.value = '', %[1]s.focus()", field)), chromedp.KeyEvent(text))
}

// selectOption selects an option of a list, as a click does.
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

// look sets the window's width and the colour scheme, light or dark.
func (b *tab) look(width int, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(int64(width), 800), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// withoutScript switches JavaScript off for pages loaded from now on.
func (b *tab) withoutScript() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// offline sets the tab's network conditions, or restores the normal ones without any.
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
			b.t.Errorf("the page shows %q, want it without:\n%s", text, shown)
		}
	}
}
