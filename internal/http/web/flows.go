package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	// maxFlows is how many sign-ins a browser may have under way, each in a tab of its own; one more drops the oldest. The
	// cookies of all have to fit into what proxies take for a line, often 8 KB.
	maxFlows = 5
	// flowName is how much of its state a flow's cookie has in its name. It only tells tabs apart: what is compared is the
	// whole state.
	flowName = 8
)

// flowCookie is the name of the cookie of the flow with this state; empty for what is no state of ours. Two tabs that sign in at
// the same time have two, so neither spoils the other's.
func (k cookies) flowCookie(state string) string {
	if len(state) <= flowName {
		return ""
	}
	return k.flow + "-" + state[:flowName]
}

// dropFlows takes back the cookies of sign-ins that are over, and of the oldest so that there is room for one more.
func (s *Site) dropFlows(c *gin.Context) {
	type kept struct {
		name string
		ends int64
	}
	var under []kept
	for _, cookie := range c.Request.Cookies() {
		if !strings.HasPrefix(cookie.Name, s.cookies.flow+"-") {
			continue
		}
		f, ok := decodeFlow(cookie.Value)
		if !ok || f.over(s.deps.Now()) {
			s.cookies.clear(c, cookie.Name)
			continue
		}
		under = append(under, kept{cookie.Name, f.Ends})
	}
	slices.SortStableFunc(under, func(a, b kept) int { return cmp.Compare(a.ends, b.ends) })
	for len(under) >= maxFlows {
		s.cookies.clear(c, under[0].name)
		under = under[1:]
	}
}

// takeFlow returns the flow of the state that the provider sent back, if this browser began it and it is not over. It is good
// once. A state that is not of this browser uses nothing up.
func (s *Site) takeFlow(c *gin.Context, state string) (flow, bool) {
	name := s.cookies.flowCookie(state)
	cookie, err := c.Cookie(name)
	if name == "" || err != nil {
		return flow{}, false
	}
	f, ok := decodeFlow(cookie)
	if !ok || !f.is(state) {
		return flow{}, false
	}
	s.cookies.clear(c, name)
	return f, !f.over(s.deps.Now())
}
