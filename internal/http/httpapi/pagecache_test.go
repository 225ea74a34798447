package httpapi

import (
	"strings"
	"testing"
)

func TestTheCacheOfPagesIsBoundedInBytes(t *testing.T) {
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
				t.Errorf("page %d was evicted", n)
			}
			used += len(p.body)
		}
		if c.room != 1000-used {
			t.Errorf("the cache has room for %d bytes, want 1000 less the %d used", c.room, used)
		}
	}
	c.add(name(1), page(400))
	c.add(name(2), page(400))
	held(1, 2)
	c.add(name(1), page(500)) // replaces the earlier form of page 1
	held(1, 2)
	c.add(name(2), page(600))
	held(2)
	c.add(name(3), page(300))
	if _, ok := c.get(name(2)); !ok {
		t.Error("page 2 was evicted")
	}
	c.add(name(4), page(200)) // evicts page 3, the least recently used
	held(2, 4)
	c.add(name(5), page(2000)) // larger than the whole cache
	held()
}

// A page's packed form counts too, and is kept only with the page that it was made of.
func TestPackedPagesCountInTheCache(t *testing.T) {
	c := newPageCache(1000)
	name := pageName{guild: "100000000000000001", number: 1}
	old := encodedPage{body: make([]byte, 400), packed: make([]byte, 100)}
	c.add(name, encodedPage{body: old.body})
	c.pack(name, old)
	if kept, _ := c.get(name); len(kept.packed) != 100 || c.room != 500 {
		t.Errorf("the packed form has %d bytes and the cache room for %d, want 100 and 500", len(kept.packed), c.room)
	}
	c.add(name, encodedPage{body: make([]byte, 300)})
	c.pack(name, old)
	if kept, _ := c.get(name); len(kept.body) != 300 || kept.packed != nil || c.room != 700 {
		t.Errorf("the replaced page has %d bytes, %d packed, and the cache room for %d, want 300, 0 and 700", len(kept.body), len(kept.packed), c.room)
	}
	c.pages.Remove(name)
	c.pack(name, old)
	if c.pages.Len() != 0 || c.room != 1000 {
		t.Errorf("%d pages are kept, with room for %d, want 0 and 1000", c.pages.Len(), c.room)
	}
}
