package edge

import (
	"testing"
)

func TestWhoTakesGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br;q=1.0, GZIP;q=0.8, *;q=0.1": true, "x-gzip": true, "deflate , gzip ;q=0.001": true, "*": true,
		"gzip;q=nonsense": true, "br, *;q=0.5": true,
		"": false, "identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "*, gzip;q=0": false, "gzip;Q=0, *": false, "*;q=0": false, "gzippy": false, "br": false,
	} {
		if got := AcceptsGzip([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", accept, got, want)
		}
	}
	if AcceptsGzip(nil) {
		t.Error("a client that says nothing is sent gzip")
	}
	if !AcceptsGzip([]string{"br", "gzip"}) {
		t.Error("the second line is not read")
	}
}

func TestTwoAreNotPackedAtOnce(t *testing.T) {
	var p Packer
	body := make([]byte, LeastPacked)
	if p.TryPack(body) == nil {
		t.Error("nobody else packs, and nothing is packed")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.TryPack(body) != nil {
		t.Error("two are packed at once")
	}
}
