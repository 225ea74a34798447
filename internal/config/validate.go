package config

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// minAdminToken is the least length of an admin token, in characters.
const minAdminToken = 32

// validator collects what is wrong with a Config, at most one problem for a setting that could not even be parsed.
type validator struct {
	failed   map[string]bool
	problems []error
}

// bad notes a problem with the setting LEVELBOARD_<name>: a predicate that follows the name. It never quotes a secret.
func (v *validator) bad(name, format string, args ...any) {
	if name = Prefix + name; !v.failed[name] {
		v.problems = append(v.problems, fmt.Errorf("%s "+format, append([]any{name}, args...)...))
	}
}

// check validates c, and brings what has several spellings into one.
func (v *validator) check(c *Config) {
	v.listen(c)
	v.stores(c)
	v.adminToken(c.AdminToken)
	v.duration("SNAPSHOT_INTERVAL", c.SnapshotInterval, 100*time.Millisecond, time.Hour)
	if c.GuildIdle != 0 {
		v.guildIdle(c.GuildIdle)
	}
	v.days("HISTORY_DAYS", c.HistoryDays)
	v.days("AUDIT_DAYS", c.AuditDays)
	v.duration("SHUTDOWN_TIMEOUT", c.ShutdownTimeout, 100*time.Millisecond, 10*time.Minute)
	v.limit("RATE_LIMIT_KEY", c.RateLimitKey)
	v.limit("RATE_LIMIT_IDENTITY", c.RateLimitIdentity)
	v.limit("CONNECTIONS_PER_ADDRESS", c.ConnectionsPerAddress)
	c.TrustedProxies = v.proxies(c.TrustedProxies)
	c.CORSOrigins = v.origins(c.CORSOrigins)
	if c.PublicURL != "" {
		c.PublicURL = v.webURL("PUBLIC_URL", c.PublicURL)
		if u, err := url.Parse(c.PublicURL); err == nil && u.Path != "" {
			v.bad("PUBLIC_URL", "must not have a path: the API and the pages are at the top of their host")
		}
	}
	v.oauth(c)
	v.logs(c)
}

func (v *validator) listen(c *Config) {
	v.address("LISTEN", c.Listen)
	v.address("OPS_LISTEN", c.OpsListen)
	if samePort(c.Listen, c.OpsListen) {
		v.bad("OPS_LISTEN", "must be another port than that of LEVELBOARD_LISTEN")
	}
}

// samePort reports whether two addresses to listen on are the same, or one is of all addresses and the ports are the same.
func samePort(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	return hostA == hostB || unspecified(hostA) || unspecified(hostB)
}

func (v *validator) address(name, addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || strings.ContainsAny(host, " /@") || !validPort(port, 0) {
		v.bad(name, "must be an address to listen on, host:port, such as 127.0.0.1:8080 or :8080")
	}
}

func validPort(port string, least int) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n >= least && n <= math.MaxUint16
}

// exposure warns when addr can be reached from other machines.
func exposure(name, addr string) []string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || loopback(host) {
		return nil
	}
	return []string{fmt.Sprintf("%s%s is %s, so other machines may reach this service, which is embedded: "+
		"good for a try, not for real use", Prefix, name, addr)}
}

func (v *validator) stores(c *Config) {
	if c.RedisURL != "" && c.PostgresURL == "" {
		v.bad("POSTGRES_URL", "is missing: with LEVELBOARD_REDIS_URL the archive must be Postgres (with neither of them the service is embedded)")
	}
	if c.PostgresURL != "" && c.RedisURL == "" {
		v.bad("REDIS_URL", "is missing: with LEVELBOARD_POSTGRES_URL the live boards must be in Redis (with neither of them the service is embedded)")
	}
	if c.PostgresURL != "" {
		u, err := url.Parse(c.PostgresURL)
		if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Opaque != "" {
			v.bad("POSTGRES_URL", "must be a URL such as postgres://user:password@host:5432/database, reserved characters of the password percent-encoded")
		}
	}
	v.redis(c)
	if c.Embedded() && strings.TrimSpace(c.DataDir) == "" {
		v.bad("DATA_DIR", "must be a directory")
	}
}

func (v *validator) adminToken(token string) {
	switch {
	case token == "":
	case strings.ContainsFunc(token, func(r rune) bool { return r < '!' || r > '~' }):
		v.bad("ADMIN_TOKEN", "must be letters, digits and signs of ASCII, without spaces")
	case len(token) < minAdminToken:
		v.bad("ADMIN_TOKEN", "must be at least %d characters long", minAdminToken)
	}
}

func (v *validator) duration(name string, d, least, most time.Duration) {
	if d < least || d > most {
		v.bad(name, "must be from %s to %s", plain(least), plain(most))
	}
}

// guildIdle keeps a guild from leaving while somebody who reads a page now and then is at it, and far from what a Duration holds.
func (v *validator) guildIdle(d time.Duration) {
	const least, most = 10 * time.Minute, 365 * 24 * time.Hour
	if d < least || d > most {
		v.bad("GUILD_IDLE", "must be from %s to %s, or 0s for never", plain(least), plain(most))
	}
}

// plain writes whole units without the zeros of Duration.String.
func plain(d time.Duration) string {
	s := d.String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (v *validator) limit(name string, n int) {
	if n < 0 || n > math.MaxInt32 {
		v.bad(name, "must be a whole number from 0 to 2147483647")
	}
}

func (v *validator) days(name string, n int) {
	if n < 30 || n > 3660 {
		v.bad(name, "must be a whole number of days from 30 to 3660")
	}
}

func (v *validator) proxies(list []string) []string {
	list = trimmed(list)
	for _, p := range list {
		switch block, err := proxy(p); {
		case err != nil:
			v.bad("TRUSTED_PROXIES", "holds %q, which is neither an IP address nor a CIDR block such as 10.0.0.0/8", p)
		case everybody(block):
			v.bad("TRUSTED_PROXIES", "holds %q, which trusts everybody: any client could then say that it has another address, and have limits of its own. "+
				"Name the addresses from which the proxy connects", p)
		}
	}
	return list
}

// proxy reads an address or a CIDR block.
func proxy(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// ProxyPrefixes are the trusted proxies, those that are written as ::ffff:0:0/96 as what that says of IPv4.
func (c Config) ProxyPrefixes() []netip.Prefix {
	var prefixes []netip.Prefix
	for _, p := range c.TrustedProxies {
		prefix, _ := proxy(p) // Load has refused what is none
		if address := prefix.Addr(); address.Is4In6() {
			prefix = netip.PrefixFrom(address.Unmap(), prefix.Bits()-96)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes
}

// everybody reports whether a block is all of IPv4 or of IPv6. Gin reads one of ::ffff:0:0/96 as what it says of IPv4.
func everybody(block netip.Prefix) bool {
	return block.Bits() == 0 || block.Addr().Is4In6() && block.Bits() <= 96
}

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

// trimmed drops the blanks around the entries, and empty entries.
func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
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

// private keeps what is sent to a provider of sign-in, the client secret, codes and tokens, from travelling in clear over a network.
func (v *validator) private(name, raw string) {
	u, err := url.Parse(raw)
	if err == nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		v.bad(name, "must begin with https://, or secrets of the sign-in would travel in clear; plain http is for loopback only")
	}
}

// signIn keeps cookies and codes from travelling in clear over a network: plain http is for loopback.
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

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// unspecified reports whether who listens on the host listens on all addresses.
func unspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
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

func (v *validator) logs(c *Config) {
	switch c.LogLevel {
	case slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError:
	default:
		v.bad("LOG_LEVEL", "must be debug, info, warn or error")
	}
	if c.LogFormat != Text && c.LogFormat != JSON {
		v.bad("LOG_FORMAT", "must be text or json")
	}
}
