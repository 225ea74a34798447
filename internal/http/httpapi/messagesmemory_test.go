package httpapi

import (
	"runtime"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
)

// The body is read before it is known whether the key may write in the guild, and as many at once as there is room for.
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
			t.Fatalf("%s: %d bytes", name, len(body))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readMessages(body)
		runtime.ReadMemStats(&after)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		// Reading twice must not hold much more than what was sent.
		if took := after.TotalAlloc - before.TotalAlloc; took > 3*maxLargeBody {
			t.Errorf("%s: %d KiB were taken for %d", name, took>>10, len(body)>>10)
		}
	}
}
