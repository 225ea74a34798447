package browsertest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) {
	testenv.AtExit(func() { stopBrowser() })
	testenv.Main(m)
}

// stopBrowser stops the browser, if a test started it.
var stopBrowser = func() {}

// browser returns the headless Chromium of all tests, started at first use. It reaches only 127.0.0.1. The sandbox is off, because it needs
// rights that containers lack, and the browser opens only our pages.
var browser = sync.OnceValues(func() (context.Context, error) {
	home, err := os.MkdirTemp("", "levelboard-chromium-")
	if err != nil {
		return nil, err
	}
	allocator, release := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox,
		chromedp.Flag("no-proxy-server", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
		chromedp.Flag("lang", "en-US"),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "DBUS_SESSION_BUS_ADDRESS=/dev/null"),
	)...)
	ctx, _ := chromedp.NewContext(allocator)
	stopBrowser = func() {
		closing, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_ = chromedp.Cancel(closing) // a browser that does not stop is killed next
		release()
		_ = os.RemoveAll(home)
	}
	return ctx, chromedp.Do(ctx)
})
