package announcement

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"
)

// hidden is what stands for the rest of an address that is a secret.
const hidden = "/…"

// Secret is an address that nobody may read: printed, logged or encoded it is what Shown returns. Reveal returns all of it.
type Secret string

// Shown is scheme, host and port as they were given.
func (s Secret) Shown() string {
	u, err := url.Parse(string(s))
	if s == "" || err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + hidden
}

// IsShown reports whether s is what Shown returns of an address, and not an address.
func (s Secret) IsShown() bool { return strings.HasSuffix(string(s), hidden) }

// Reveal is the address.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string { return s.Shown() }

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.Shown() }

// MarshalJSON writes what Shown returns, and null when there is no address.
func (s Secret) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(s.Shown())
}

// Check says in words what is wrong with an address, or "". allowed reports whether a private host, as it was written, may be posted to.
func (s Secret) Check(allowed func(host string) bool) string {
	u, err := url.Parse(string(s))
	switch {
	case utf8.RuneCountInString(string(s)) > 2000:
		return "must have at most 2000 characters"
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return "must be an address that begins with https://"
	case u.User != nil:
		return "must have no user or password in it"
	case u.Fragment != "" || strings.Contains(string(s), "#"):
		return "must have no fragment (#) in it"
	case u.Scheme == "http" && !allowed(u.Hostname()):
		return "must begin with https://; http is for hosts that the operator names in LEVELBOARD_ALLOWED_PRIVATE_HOSTS"
	}
	return ""
}
