package httpapi

import (
	"net/http"
	"testing"
)

// A browser that has seen no event sends the header empty or not at all.
func TestAnEmptyLastEventIDIsNone(t *testing.T) {
	sent := func(ids ...string) http.Header {
		h := http.Header{}
		for _, id := range ids {
			h.Add("Last-Event-ID", id)
		}
		return h
	}
	for _, h := range []http.Header{sent(), sent("")} {
		if id, err := lastEventID(h); id != nil || err != nil {
			t.Errorf("Last-Event-ID of %v is %v (%v), want none", h, id, err)
		}
	}
	if id, err := lastEventID(sent("17-3")); err != nil || id == nil || id.String() != "17-3" {
		t.Errorf("Last-Event-ID 17-3 is read as %v (%v)", id, err)
	}
	for _, given := range [][]string{{"17"}, {" "}, {"", ""}, {"", "17-3"}} {
		if id, err := lastEventID(sent(given...)); err == nil {
			t.Errorf("Last-Event-ID %q is read as %v, want an error", given, id)
		}
	}
}
