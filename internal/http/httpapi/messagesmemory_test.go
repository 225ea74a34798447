package httpapi

import (
	"runtime"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
)

// The body is read before the key's access to the guild is checked, and many are read at once.
func TestBadMessagesTakeLittleMemory(t *testing.T) {
	roles := func(n int) string {
		return `{"userId":"","channelId":"","roleIds":["` + strings.Repeat(`","`, n-1) + `"]}`
	}
	list := func(n int, message string) string { return strings.TrimSuffix(strings.Repeat(message+",", n), ",") }
	for name, messages := range map[string]string{
		"many roles":                         roles(349_000),
		"as many roles as may be, in each":   list(1000, roles(250)),
		"many messages":                      list(36_000, `{"userId":"","channelId":""}`),
		"many messages without a property":   list(349_000, `{}`),
		"many messages that are not objects": list(500_000, `1`),
	} {
		body := []byte(`{"messages":[` + messages + `]}`)
		if len(body) > maxLargeBody {
			t.Fatalf("%s: the body has %d bytes, more than a request may have", name, len(body))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readMessages(body)
		runtime.ReadMemStats(&after)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want fault.Invalid", name, err)
		}
		// Reading it, twice, must not hold much more than the body.
		if took := after.TotalAlloc - before.TotalAlloc; took > 3*maxLargeBody {
			t.Errorf("%s: reading a body of %d KiB took %d KiB, want at most %d", name, len(body)>>10, took>>10, 3*maxLargeBody>>10)
		}
	}
}
