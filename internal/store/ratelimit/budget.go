// Package ratelimit charges requests to budgets that all replicas share through Redis. A budget is a GCRA bucket of redis_rate: it allows as
// many requests at once as in a minute, and refills evenly. The package does not decide which budgets a request has, or how a rejection looks.
package ratelimit

import "net/netip"

// Unlimited is the Limit and Remaining of a Decision when no budget has a limit.
const Unlimited = 2147483647

// The scopes of budgets.
const (
	ScopeKey      = "key"      // Name is an API key's id
	ScopeIdentity = "identity" // Name is the id of a key's owner, or of a signed-in user
	ScopeAddress  = "address"  // Name is an AddressName
	ScopeSignIn   = "sign_in"  // Name is an AddressName; for calls to the provider of sign-in
	ScopeAdmin    = "admin"    // Name is an AddressName; for wrong admin tokens
)

// Budget is a limit on the requests of one subject.
type Budget struct {
	Scope     string
	Name      string
	PerMinute int // requests; 0 or less is no limit
}

// redisKey is the budget's name in Redis, without the prefix `rate:` of redis_rate.
func (b Budget) redisKey() string { return "lb:" + letters[b.Scope] + ":" + b.Name }

var letters = map[string]string{ScopeKey: "k", ScopeIdentity: "i", ScopeAddress: "a", ScopeSignIn: "s", ScopeAdmin: "t"}

// OfIdentity returns the budget of a signed-in user or, if user is empty, of the client's address.
func OfIdentity(user, address string, perMinute int) Budget {
	if user != "" {
		return Budget{Scope: ScopeIdentity, Name: user, PerMinute: perMinute}
	}
	return Budget{Scope: ScopeAddress, Name: ClientName(address), PerMinute: perMinute}
}

// ClientName returns the AddressName of a client's address in text form. Clients without an address, such as those of a Unix socket, share one
// name.
func ClientName(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	return AddressName(a)
}

// AddressName returns the name under which a client's address is charged: an IPv4 address itself, and the /64 of an IPv6
// address, since one client can send from all addresses of its network. It ignores ports and zones.
func AddressName(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a.String()
	}
	network, err := a.Prefix(64)
	if err != nil {
		return a.String() // cannot happen: 64 is a valid prefix length of every IPv6 address
	}
	return network.String()
}
