package httpapi

import (
	"strings"
	"testing"
)

func TestPagesInMemoryAreBoundedInBytes(t *testing.T) {
	c := newPageCache(1000)
	name := func(number int64) pageName { return pageName{guild: "100000000000000001", number: number} }
	page := func(size int) encodedPage { return encodedPage{body: []byte(strings.Repeat("x", size))} }
	held := func(numbers ...int64) {
		t.Helper()
		if c.pages.Len() != len(numbers) {
			t.Errorf("%d pages are kept, want %d", c.pages.Len(), len(numbers))
		}
		used := 0
		for _, n := range numbers {
			p, ok := c.pages.Peek(name(n))
			if !ok {
				t.Errorf("page %d is not kept", n)
			}
			used += len(p.body)
		}
		if c.room != 1000-used {
			t.Errorf("room for %d bytes, with %d of 1000 used", c.room, used)
		}
	}
	c.add(name(1), page(400))
	c.add(name(2), page(400))
	held(1, 2)
	c.add(name(1), page(500)) // in place of the one it replaces
	held(1, 2)
	c.add(name(2), page(600))
	held(2)
	c.add(name(3), page(300))
	if _, ok := c.get(name(2)); !ok {
		t.Error("page 2 is gone")
	}
	c.add(name(4), page(200)) // 3 is the one unused for longest
	held(2, 4)
	c.add(name(5), page(2000)) // larger than all that there is
	held()
}
