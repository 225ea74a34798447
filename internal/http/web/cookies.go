package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// cookies are the cookies of sign-in. Over https the prefix __Host- binds them to this
// host. Plain http, which only a loopback address may use, does not allow the prefix.
type cookies struct {
	session string // name of the cookie with the session's secret
	flow    string // prefix of the names of the cookies with unfinished sign-ins (flow)
	secure  bool
}

// newCookies fails if cookies would travel unencrypted over a network.
func newCookies(publicURL string) (cookies, error) {
	u, err := url.Parse(publicURL)
	switch {
	case err != nil || u.Host == "":
		return cookies{}, fmt.Errorf("the public address %q is not a URL with a host", publicURL)
	case u.Scheme == "https":
		return cookies{session: "__Host-levelboard", flow: "__Host-levelboard-sign-in", secure: true}, nil
	case !Loopback(u.Host):
		return cookies{}, fmt.Errorf("the public address %q must begin with https:// for people to sign in, unless it is loopback", publicURL)
	}
	return cookies{session: "levelboard", flow: "levelboard-sign-in"}, nil
}

// Loopback reports whether host, with or without a port, names this machine.
func Loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

func (k cookies) set(c *gin.Context, name, value string, life time.Duration) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		Secure: k.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (k cookies) clear(c *gin.Context, name string) { k.set(c, name, "", -time.Second) }
