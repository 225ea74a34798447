// Package ratelimit charges requests to budgets that all replicas share through Redis. A budget is a GCRA bucket of redis_rate: as many
// requests at once as it allows in a minute, refilled evenly. It does not know who pays for a request, nor what a refusal looks like.
package ratelimit

import "net/netip"

// Unlimited is what a Decision shows as limit and remaining when no budget has a limit.
const Unlimited = 2147483647

// The scopes of budgets.
const (
	ScopeKey      = "key"      // Name is an API key's id
	ScopeIdentity = "identity" // Name is the id of a key's owner, or of a signed-in user
	ScopeAddress  = "address"  // Name is an AddressName
	ScopeSignIn   = "sign_in"  // Name is an AddressName; of what the provider of sign-in is asked for it
	ScopeAdmin    = "admin"    // Name is an AddressName; of wrong admin tokens
)

// Budget is what one subject may ask for.
type Budget struct {
	Scope     string
	Name      string
	PerMinute int // requests; 0 or less is no limit
}

// redisKey is the budget's name in Redis, without the prefix `rate:` of redis_rate.
func (b Budget) redisKey() string { return "lb:" + letters[b.Scope] + ":" + b.Name }

var letters = map[string]string{ScopeKey: "k", ScopeIdentity: "i", ScopeAddress: "a", ScopeSignIn: "s", ScopeAdmin: "t"}

// OfIdentity is the budget of a signed-in user, or, when that is empty, of the address of a client.
func OfIdentity(user, address string, perMinute int) Budget {
	if user != "" {
		return Budget{Scope: ScopeIdentity, Name: user, PerMinute: perMinute}
	}
	return Budget{Scope: ScopeAddress, Name: ClientName(address), PerMinute: perMinute}
}

// ClientName is the AddressName of a client's address as text. Clients of a listener without addresses, such as a Unix socket, have
// none, and share one name.
func ClientName(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	return AddressName(a)
}

// AddressName is the name under which a client's address is charged: an IPv4 address itself, and the /64 of an IPv6
// address, since one client can send from all addresses of its network. Ports and zones have no part in it.
func AddressName(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a.String()
	}
	network, err := a.Prefix(64)
	if err != nil {
		return a.String() // cannot be: 64 is a length of every IPv6 prefix
	}
	return network.String()
}
