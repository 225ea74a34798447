package config

import (
	"fmt"
	"levelboard/internal/platform/outbound"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// minAdminToken is the minimum length of an admin token, in characters.
const minAdminToken = 32

// validator collects the mistakes in a Config. It skips settings that could not be parsed, which are reported already.
type validator struct {
	failed   map[string]bool
	problems []error
}

// bad notes a problem with the setting LEVELBOARD_<name>. The text is a predicate that follows the name and never quotes a secret.
func (v *validator) bad(name, format string, args ...any) {
	if name = Prefix + name; !v.failed[name] {
		v.problems = append(v.problems, fmt.Errorf("%s "+format, append([]any{name}, args...)...))
	}
}

// check validates c, and normalizes values with several spellings.
func (v *validator) check(c *Config) {
	v.listen(c)
	v.stores(c)
	v.adminToken(c.AdminToken)
	v.bounds(c)
	c.TrustedProxies = v.proxies(c.TrustedProxies)
	c.AllowedPrivateHosts = trimmed(c.AllowedPrivateHosts)
	if _, wrong := outbound.ParseHosts(c.AllowedPrivateHosts); wrong != "" {
		v.bad("ALLOWED_PRIVATE_HOSTS", "holds %q, which is neither an IP address, nor a CIDR block such as 10.0.0.0/8, nor a host name without a port", wrong)
	}
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

// samePort reports whether two addresses to listen on collide: they have the same port, and the same host or one that stands for all addresses.
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

// bounds checks each setting that has bounds in its tag. Some settings also allow 0 for no limit, or 0s for never.
func (v *validator) bounds(c *Config) {
	of := reflect.ValueOf(*c)
	for _, f := range fields() {
		tag := f.Tag.Get("bounds")
		least, most, bounded := strings.Cut(tag, " to ")
		if !bounded {
			continue
		}
		name, none, value := f.Tag.Get("env"), "", of.FieldByIndex(f.Index)
		if strings.Contains(f.Tag.Get("desc"), "0s is never") {
			none = ", or 0s for never"
		}
		switch n := value.Interface().(type) {
		case time.Duration:
			if (n < parsed(time.ParseDuration(least)) || n > parsed(time.ParseDuration(most))) && (n != 0 || none == "") {
				v.bad(name, "must be from %s%s", tag, none)
			}
		case int:
			if n < parsed(strconv.Atoi(least)) || n > parsed(strconv.Atoi(most)) {
				v.bad(name, "must be a whole number from %s", tag)
			}
		}
	}
}

// parsed returns a value from a tag.
func parsed[T any](value T, err error) T {
	if err != nil {
		panic(err) // a test checks every tag
	}
	return value
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

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// unspecified reports whether a listener on the host listens on all addresses.
func unspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

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
