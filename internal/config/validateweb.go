package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

func (v *validator) origins(list []string) []string {
	list = trimmed(list)
	if len(list) > 1 && slices.Contains(list, "*") {
		v.bad("CORS_ORIGINS", "must be * alone or a list of origins, not both")
	}
	for i, o := range list {
		if o == "*" {
			continue
		}
		u, err := url.Parse(o)
		if err != nil || !webScheme(u) || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.Contains(o, "*") {
			v.bad("CORS_ORIGINS", "holds an entry (number %d) that is not an origin such as https://example.org", i+1)
		}
	}
	return list
}

func (v *validator) oauth(c *Config) {
	if c.OAuthClientID != "" && c.OAuthClientSecret == "" {
		v.bad("OAUTH_CLIENT_SECRET", "is missing: LEVELBOARD_OAUTH_CLIENT_ID is set")
	}
	if c.OAuthClientSecret != "" && c.OAuthClientID == "" {
		v.bad("OAUTH_CLIENT_ID", "is missing: LEVELBOARD_OAUTH_CLIENT_SECRET is set")
	}
	c.OAuthAuthURL = v.webURL("OAUTH_AUTH_URL", c.OAuthAuthURL)
	c.OAuthTokenURL = v.webURL("OAUTH_TOKEN_URL", c.OAuthTokenURL)
	c.OAuthAPIURL = v.webURL("OAUTH_API_URL", c.OAuthAPIURL)
	if c.OAuthClientID != "" && c.OAuthClientSecret != "" {
		v.signIn(c)
		v.private("OAUTH_AUTH_URL", c.OAuthAuthURL)
		v.private("OAUTH_TOKEN_URL", c.OAuthTokenURL)
		v.private("OAUTH_API_URL", c.OAuthAPIURL)
	}
}

// private rejects an address of the sign-in provider that would carry the client secret, codes and tokens unencrypted.
func (v *validator) private(name, raw string) {
	u, err := url.Parse(raw)
	if err == nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		v.bad(name, "must begin with https://, or secrets of the sign-in would travel in clear; plain http is for loopback only")
	}
}

// signIn checks that cookies and codes never travel unencrypted over a network: plain http is for loopback.
func (v *validator) signIn(c *Config) {
	if c.PublicURL == "" {
		host, _, err := net.SplitHostPort(c.Listen)
		if err == nil && !loopback(host) && !unspecified(host) {
			v.bad("PUBLIC_URL", "is missing: with sign-in it must be the https:// address that people use, unless LEVELBOARD_LISTEN is loopback")
		}
		return
	}
	u, err := url.Parse(c.PublicURL)
	if err == nil && u.Scheme != "https" && !loopback(u.Hostname()) {
		v.bad("PUBLIC_URL", "must begin with https:// with sign-in, or sessions would travel in clear; plain http is for loopback only")
	}
}

// webURL checks a base URL and returns it without slashes at its end.
func (v *validator) webURL(name, raw string) string {
	u, err := url.Parse(raw)
	if err != nil || !webScheme(u) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		v.bad(name, "must be an http:// or https:// URL without user, query and fragment")
	}
	return strings.TrimRight(raw, "/")
}

func webScheme(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }
