package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

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
}
