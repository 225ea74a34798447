package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br;q=1.0, GZIP;q=0.8, *;q=0.1": true, "x-gzip": true, "deflate , gzip ;q=0.001": true, "*": true,
		"gzip;q=nonsense": true, "br, *;q=0.5": true,
		"": false, "identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "*, gzip;q=0": false, "gzip;Q=0, *": false, "*;q=0": false, "gzippy": false, "br": false,
	} {
		if got := acceptsGzip([]string{accept}); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", accept, got, want)
		}
	}
	if acceptsGzip(nil) {
		t.Error("a client that says nothing is sent gzip")
	}
	if !acceptsGzip([]string{"br", "gzip"}) {
		t.Error("the second line is not read")
	}
}

func TestPagesArePackedOnceEach(t *testing.T) {
	a := &api{pages: newPageCache(1 << 20)}
	for number := range int64(3) {
		name := pageName{guild: "100000000000000001", number: number}
		page := encodedPage{etag: `"x"`, body: bytes.Repeat([]byte(strings.Repeat("member ", int(number)+1)), 2000)}
		a.pages.add(name, page)
		packed := a.pack(name, page)
		kept, _ := a.pages.get(name)
		if len(packed) == 0 || &kept.packed[0] != &packed[0] {
			t.Fatalf("page %d: kept is not what was sent", number)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(r); err != nil || !bytes.Equal(body, page.body) {
			t.Errorf("page %d unpacks to %d bytes, %v", number, len(body), err)
		}
	}
	a.packer.mu.Lock()
	defer a.packer.mu.Unlock()
	if a.pack(pageName{}, encodedPage{etag: `"x"`, body: make([]byte, packable)}) != nil {
		t.Error("two pages are packed at once")
	}
}
