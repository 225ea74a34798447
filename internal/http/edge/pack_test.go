package edge

import (
	"testing"
)

func TestAcceptEncodingDecidesOnGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br;q=1.0, GZIP;q=0.8, *;q=0.1": true, "x-gzip": true, "deflate , gzip ;q=0.001": true, "*": true,
		"gzip;q=nonsense": true, "br, *;q=0.5": true,
		"": false, "identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "*, gzip;q=0": false, "gzip;Q=0, *": false, "*;q=0": false, "gzippy": false, "br": false,
	} {
		if got := AcceptsGzip([]string{accept}); got != want {
			t.Errorf("AcceptsGzip of Accept-Encoding %q is %v, want %v", accept, got, want)
		}
	}
	if AcceptsGzip(nil) {
		t.Error("AcceptsGzip without the header is true, want false")
	}
	if !AcceptsGzip([]string{"br", "gzip"}) {
		t.Error("AcceptsGzip does not read the header's second line")
	}
}

func TestOneBodyIsPackedAtATime(t *testing.T) {
	var p Packer
	body := make([]byte, LeastPacked)
	if p.TryPack(body) == nil {
		t.Error("TryPack packs nothing though it is free")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.TryPack(body) != nil {
		t.Error("TryPack packs a second body at the same time")
	}
}
