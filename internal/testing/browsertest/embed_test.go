package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"levelboard/internal/testing/testenv"
)

// A page of another origin embeds the top of a board, which updates there. No other page can be embedded.
func TestOnlyTheTopOfABoardCanBeEmbedded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"vanity": "framed", "embedding": true})
	key := s.key(g)
	first, second := s.member(key, g, "first", 1000), s.member(key, g, "second", 990)
	s.member(key, g, "third", 5)
	b := s.tab(t)
	for _, look := range []string{"light", "dark", "transparent"} {
		b.look(360, "dark")
		b.open("/embed/framed?theme=" + look)
		b.see("first")
		if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
			t.Errorf("%s scrolls sideways by %d px", look, over)
		}
		b.accessible("embed-" + look)
		b.shoot("embed-" + look)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<body style="background: #2a6"><iframe src="%[1]s/embed/framed?top=2&theme=transparent" width="600" height="300"></iframe>
			<iframe src="%[1]s/leaderboard/framed"></iframe>`, s.url)
	}))
	defer other.Close()
	b.do(chromedp.Navigate(other.URL))
	order := func(users ...string) string {
		return fmt.Sprintf("[...document.querySelectorAll('#board > li')].map((row) => row.id).join() === %q", "m"+strings.Join(users, ",m"))
	}
	b.inFrame(0, order(first, second))
	s.messages(key, g, object{"userId": second, "channelId": channel})
	b.inFrame(0, order(second, first))
	b.shoot("embed-elsewhere")
	if refused := b.frames()[1]; refused.UnreachableURL == "" && !strings.HasPrefix(refused.URL, "chrome-error:") {
		t.Errorf("another page is shown in a frame: %s", refused.URL)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = nil // the browser reports the refused frame
}

// frames returns the page's current frames.
func (b *tab) frames() (frames []*cdp.Frame) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		found, err := chromedp.Call(ctx, cdppage.GetFrameTree, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, child := range found.FrameTree.ChildFrames {
			frames = append(frames, child.Frame)
		}
		return nil
	}))
	return frames
}

// inFrame waits until an expression is true in the document of a frame.
func (b *tab) inFrame(n int, expression string) {
	b.t.Helper()
	holds := false
	testenv.Wait(b.t, "in the frame: "+expression, func() bool {
		frames := b.frames()
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			if n >= len(frames) {
				return nil
			}
			world, err := chromedp.Call(ctx, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{FrameID: frames[n].ID})
			if err != nil {
				return nil //nolint:nilerr // the frame is still loading
			}
			got, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "Boolean(" + expression + ")", ContextID: world.ExecutionContextID})
			if err == nil && got.Result != nil {
				holds = json.Unmarshal(got.Result.Value, &holds) == nil && holds
			}
			return nil
		}))
		return holds
	})
}
