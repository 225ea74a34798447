package config

import "net/netip"

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

// ProxyPrefixes returns the trusted proxies. A block within ::ffff:0:0/96 becomes its IPv4 block.
func (c Config) ProxyPrefixes() []netip.Prefix {
	var prefixes []netip.Prefix
	for _, p := range c.TrustedProxies {
		prefix, _ := proxy(p) // Load has rejected invalid ones
		if address := prefix.Addr(); address.Is4In6() {
			prefix = netip.PrefixFrom(address.Unmap(), prefix.Bits()-96)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes
}

// everybody reports whether a block is all of IPv4 or all of IPv6. Gin reads a block within ::ffff:0:0/96 as its IPv4 block, so this does too.
func everybody(block netip.Prefix) bool {
	return block.Bits() == 0 || block.Addr().Is4In6() && block.Bits() <= 96
}
