package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

const (
	// flowTime is how long somebody may take at the provider.
	flowTime = 10 * time.Minute
	// longestNext bounds the address to come back to, in bytes; a longer one is forgotten.
	longestNext = 512
	// longestFlow bounds the cookie of one, in bytes.
	longestFlow = 1 << 10
)

// flow is a sign-in that is under way. It is kept in a cookie of its own in the browser that began it, so a provider's answer
// counts in that browser only: nobody can have somebody else finish a sign-in that they began. It needs no signature, since
// whoever writes their own cookie can only spoil their own sign-in, and Next is looked at again when it is read. Nor would one keep
// anybody from asking the provider for codes that they made up: a flow that we signed is theirs for a request, as often as they
// send it. That is bounded where codes are redeemed (chargeSignIn, signin.ErrBusy).
type flow struct {
	State    string `json:"s"` // what the provider has to send back
	Verifier string `json:"v"` // without it the code is worth nothing
	Next     string `json:"n"` // where to go then
	Ends     int64  `json:"e"` // Unix time
}

func newFlow(next string, now time.Time) flow {
	return flow{State: randomText(), Verifier: randomText(), Next: safeNext(next), Ends: now.Add(flowTime).Unix()}
}

// randomText is 256 random bits in 43 characters, which is also what a verifier of PKCE should be.
func randomText() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// encode is the flow as the value of a cookie. An address that JSON makes too long is forgotten.
func (f flow) encode() (string, error) {
	encoded, err := json.Marshal(f)
	if base64.RawURLEncoding.EncodedLen(len(encoded)) > longestFlow {
		f.Next = "/"
		encoded, err = json.Marshal(f)
	}
	return base64.RawURLEncoding.EncodeToString(encoded), err
}

// decodeFlow reads what encode wrote.
func decodeFlow(cookie string) (f flow, ok bool) {
	encoded, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || json.Unmarshal(encoded, &f) != nil {
		return flow{}, false
	}
	return f, f.State != "" && f.Verifier != ""
}

func (f flow) over(now time.Time) bool { return now.Unix() >= f.Ends }

// is reports whether the state is this flow's.
func (f flow) is(state string) bool {
	return subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) == 1
}

// safeNext returns the address if it is one of a page here, and "/" for anything that could lead elsewhere or around in a
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
