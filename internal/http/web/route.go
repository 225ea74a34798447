package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/edge"
)

// routes adds pages to a router. Options say what a page needs besides its handler.
type routes struct {
	router gin.IRouter
	before []gin.HandlerFunc // run before each page
	robots *[]string         // patterns that crawlers must leave out
}

// route holds the options of a page.
type route struct {
	limit    int64  // maximum size of a form, in bytes; 0: maxForm
	formHere bool   // the page's form is sent to the page's own address
	slow     bool   // edge.Slow
	unlisted string // a pattern that crawlers must leave out
}

type routeOption func(*route)

// upTo accepts forms of that many bytes.
func upTo(limit int64) routeOption { return func(r *route) { r.limit = limit } }

// formHere says that the form's page has the address that the form is sent to, so that signing in returns there.
func formHere(r *route) { r.formHere = true }

// slow gives a request about all members of a guild more time (edge.Slow).
func slow(r *route) { r.slow = true }

// unlisted keeps crawlers away from all addresses that match a pattern.
func unlisted(pattern string) routeOption { return func(r *route) { r.unlisted = pattern } }

// get routes GET, and HEAD, for which net/http drops the body.
func (p routes) get(path string, h gin.HandlerFunc, options ...routeOption) {
	edge.Get(p.router, path, p.chain(h, options)...)
}

// only routes GET, but not HEAD.
func (p routes) only(path string, h gin.HandlerFunc, options ...routeOption) {
	p.router.GET(path, p.chain(h, options)...)
}

func (p routes) post(path string, h gin.HandlerFunc, options ...routeOption) {
	p.router.POST(path, p.chain(h, options)...)
}

func (p routes) chain(h gin.HandlerFunc, options []routeOption) []gin.HandlerFunc {
	var r route
	for _, set := range options {
		set(&r)
	}
	if r.unlisted != "" && !slices.Contains(*p.robots, r.unlisted) {
		*p.robots = append(*p.robots, r.unlisted)
	}
	chain := append([]gin.HandlerFunc{func(c *gin.Context) { c.Set(pageKey, &page{route: r}) }}, p.before...)
	if r.slow {
		chain = append(chain, edge.Slow)
	}
	return append(chain, h)
}

// page is shared by the handlers of one request for a page.
type page struct {
	route
	next   string  // where signing in returns to, if not to this page
	board  string  // path of the request's board, if the visitor may read it
	data   string  // path of the request's page of data, for a manager
	unfurl *unfurl // nil if the page is not public
	secret bool    // the page shows a secret
}

const pageKey = "levelboard.page"

// pageOf returns the request's page. A request without a route gets a page without options.
func pageOf(c *gin.Context) *page {
	p, ok := c.Value(pageKey).(*page)
	if !ok {
		p = &page{}
		c.Set(pageKey, p)
	}
	return p
}

// here returns the address to return to after signing in: this page. For a POST it is the form's page, if that has the same address.
func here(c *gin.Context) string {
	p, r := pageOf(c), c.Request
	switch asked := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case p.next != "":
		return p.next
	case asked && !strings.HasPrefix(r.URL.Path, "/sign-"):
		return r.URL.RequestURI()
	case !asked && p.formHere:
		return r.URL.EscapedPath()
	}
	return "/"
}

// comeBackTo sets another page to return to after signing in on this one.
func comeBackTo(c *gin.Context, next string) { pageOf(c).next = safeNext(next) }
