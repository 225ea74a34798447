package web

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// flowTime is how long a user may take at the provider.
	flowTime = 10 * time.Minute
	// longestNext bounds the address to return to, in bytes; a cookie may need three times as many. A longer address is dropped.
	longestNext = 256
	// maxFlows bounds the unfinished sign-ins of one browser, one a tab: proxies often accept only 8 KB of cookies. One more drops the oldest.
	maxFlows = 5
	// flowName is how many characters of its state a flow's cookie has in its name, to tell tabs apart. The whole state is compared.
	flowName = 8
)

// flow is an unfinished sign-in. It is in a cookie of the browser that began it, so that no attacker can make another user finish it.
// It needs no signature: a user who changes their own cookie breaks only their own sign-in, and Next is checked again when it is read.
type flow struct {
	State    string // what the provider must send back
	Verifier string // the PKCE verifier; the code is worthless without it
	Next     string // where to return to
	Ends     int64  // Unix time
}

func newFlow(next string, now time.Time) flow {
	// A PKCE verifier has at least 43 characters.
	return flow{State: rand.Text(), Verifier: rand.Text() + rand.Text(), Next: safeNext(next), Ends: now.Add(flowTime).Unix()}
}

// encode returns the flow as the value of a cookie.
func (f flow) encode() string {
	return url.Values{"state": {f.State}, "verifier": {f.Verifier}, "next": {f.Next}, "ends": {strconv.FormatInt(f.Ends, 10)}}.Encode()
}

// decodeFlow reads the result of encode.
func decodeFlow(cookie string) (f flow, ok bool) {
	values, err := url.ParseQuery(cookie)
	f = flow{State: values.Get("state"), Verifier: values.Get("verifier"), Next: values.Get("next")}
	f.Ends, _ = strconv.ParseInt(values.Get("ends"), 10, 64)
	return f, err == nil && f.State != "" && f.Verifier != ""
}

func (f flow) over(now time.Time) bool { return now.Unix() >= f.Ends }

// flowCookie returns the name of the cookie of the flow with this state, one for each tab. It returns "" for a state that is not ours.
func (k cookies) flowCookie(state string) string {
	if len(state) <= flowName {
		return ""
	}
	return k.flow + "-" + state[:flowName]
}

// dropFlows clears the cookies of sign-ins that are over, and of the oldest ones, so that there is room for one more.
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
	for _, oldest := range under[:max(len(under)-maxFlows+1, 0)] {
		s.cookies.clear(c, oldest.name)
	}
}

// takeFlow returns the flow of a state that the provider sent back, if this browser began it and it is not over. A second call does not find it.
func (s *Site) takeFlow(c *gin.Context, state string) (flow, bool) {
	name := s.cookies.flowCookie(state)
	cookie, err := c.Request.Cookie(name)
	if name == "" || err != nil {
		return flow{}, false
	}
	f, ok := decodeFlow(cookie.Value)
	if !ok || subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) != 1 {
		return flow{}, false
	}
	s.cookies.clear(c, name)
	return f, !f.over(s.deps.Now())
}

// safeNext returns the address of a page here, or "/" for an address that could lead to another site or in a
// circle. Browsers drop tabs and line ends from addresses and read \ as /, so //example.com has many spellings.
func safeNext(next string) string {
	if len(next) > longestNext || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") {
		return "/"
	}
	if strings.ContainsFunc(next, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return "/"
	}
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, "/sign-") {
		return "/"
	}
	return next
}
