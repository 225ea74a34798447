package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
)

func (a *api) noRoute(c *gin.Context) {
	a.unrouted(c, fault.New(fault.NotFound, "There is nothing at this address. GET /v2/openapi.json describes what there is."))
}

func (a *api) noMethod(c *gin.Context) {
	a.unrouted(c, fault.New(fault.MethodNotAllowed, "This address does not take %s. The Allow header says what it takes.", shorten(c.Request.Method)))
}

// unrouted charges the limits on /v2 all the same: every answer there has the headers. A bad key is 401 there, too.
func (a *api) unrouted(c *gin.Context, f *fault.Error) {
	if underV2(c.Request) {
		for _, step := range []gin.HandlerFunc{a.crossOrigin, a.identify, a.refuseBadKey} {
			if step(c); c.IsAborted() {
				return
			}
		}
		if isPreflight(c) && f.Code == fault.MethodNotAllowed {
			c.Status(http.StatusNoContent)
			return
		}
	} else if a.deps.Pages != nil && forPerson(c.Request) {
		a.deps.Pages.Refuse(c, f)
		return
	}
	a.fail(c, f)
}

// forPerson reports whether a browser asks for a page; whatever else asks is answered as a program is.
func forPerson(r *http.Request) bool {
	admin := r.URL.Path == "/admin" || strings.HasPrefix(r.URL.Path, "/admin/")
	return !admin && strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html")
}
