package httpapi

import (
	"bytes"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/leaderboard"
)

// pageMemory bounds the encoded pages that are kept, in bytes. One of 100 members is about 25 KB, of the longest names 20 times that.
const pageMemory = 32 << 20

// encodedPage is a page as it is sent, and what it was made of.
type encodedPage struct {
	etag   string
	body   []byte
	packed []byte // the body, gzipped; nil as long as nobody needed it

	incarnation guild.Incarnation
	settings    int64 // version of the guild's settings
	version     leaderboard.Version
}

// sameBody reports whether the pages are the same to their readers, of two versions perhaps.
func (p *encodedPage) sameBody(other *encodedPage) bool { return bytes.Equal(p.body, other.body) }

// serves reports whether the page is made of these settings and of this version or a later one.
func (p *encodedPage) serves(g *guild.Guild, least leaderboard.Version) bool {
	return p.incarnation == g.Incarnation && p.settings == g.Version &&
		(p.version.Epoch > least.Epoch || p.version.Epoch == least.Epoch && p.version.Rev >= least.Rev)
}

func (p *encodedPage) size() int { return len(p.body) + len(p.packed) }

// pageCache keeps the pages used last, up to a number of bytes.
type pageCache struct {
	mu    sync.Mutex
	pages *simplelru.LRU[pageName, encodedPage]
	room  int // bytes
}

func newPageCache(bytes int) *pageCache {
	c := &pageCache{room: bytes}
	var err error
	c.pages, err = simplelru.NewLRU(math.MaxInt32, func(_ pageName, dropped encodedPage) { c.room += dropped.size() })
	if err != nil {
		panic(err) // only for a size that is not positive, and it is a constant
	}
	return c
}

func (c *pageCache) get(name pageName) (encodedPage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages.Get(name)
}

// add keeps the page in place of the one that had its name, and drops those unused for longest until there is room. What the same
// body was packed to continues with it; it returns the page as it is kept.
func (c *pageCache) add(name pageName, page encodedPage) encodedPage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.pages.Peek(name); ok && kept.sameBody(&page) {
		page.packed = kept.packed
	}
	c.put(name, page)
	return page
}

// put puts the page in. mu is held.
func (c *pageCache) put(name pageName, page encodedPage) {
	c.pages.Remove(name)
	c.pages.Add(name, page)
	c.room -= page.size()
	for c.room < 0 {
		c.pages.RemoveOldest()
	}
}

// pack keeps what the page's body is when it is gzipped. When it is gone, or there is another body by now, it does nothing.
func (c *pageCache) pack(name pageName, page encodedPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.pages.Peek(name); ok && kept.sameBody(&page) {
		kept.packed = page.packed
		c.put(name, kept)
	}
}
