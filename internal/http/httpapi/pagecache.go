package httpapi

import (
	"bytes"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/leaderboard"
)

// pageMemory bounds the cached pages, in bytes. A page of 100 members is about 25 KB; with the longest names it is 20 times that.
const pageMemory = 32 << 20

// encodedPage is a page as it is sent, with the versions that it was made from.
type encodedPage struct {
	etag   string
	body   []byte
	packed []byte // the body, gzipped; nil until it is needed

	incarnation guild.Incarnation
	settings    int64 // version of the guild's settings
	version     leaderboard.Version
}

// sameBody reports whether two pages have the same body. Their versions may differ.
func (p *encodedPage) sameBody(other *encodedPage) bool { return bytes.Equal(p.body, other.body) }

// serves reports whether the page has these settings, and this version or a later one.
func (p *encodedPage) serves(g *guild.Guild, least leaderboard.Version) bool {
	return p.incarnation == g.Incarnation && p.settings == g.Version &&
		(p.version.Epoch > least.Epoch || p.version.Epoch == least.Epoch && p.version.Rev >= least.Rev)
}

func (p *encodedPage) size() int { return len(p.body) + len(p.packed) }

// pageCache caches the latest used pages, up to a number of bytes.
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
		panic(err) // the size is a constant
	}
	return c
}

func (c *pageCache) get(name pageName) (encodedPage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages.Get(name)
}

// add replaces the page with that name, and evicts the least recently used pages until there
// is room. If the body is the same, it keeps the gzipped form. It returns the cached page.
func (c *pageCache) add(name pageName, page encodedPage) encodedPage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.pages.Peek(name); ok && kept.sameBody(&page) {
		page.packed = kept.packed
	}
	c.put(name, page)
	return page
}

// put inserts the page. mu is held.
func (c *pageCache) put(name pageName, page encodedPage) {
	c.pages.Remove(name)
	c.pages.Add(name, page)
	c.room -= page.size()
	for c.room < 0 {
		c.pages.RemoveOldest()
	}
}

// pack keeps the page's gzipped body. It does nothing if the page was evicted or has another body now.
func (c *pageCache) pack(name pageName, page encodedPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.pages.Peek(name); ok && kept.sameBody(&page) {
		kept.packed = page.packed
		c.put(name, kept)
	}
}
