package outbound

import (
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the private hosts that may be connected to.
type Hosts struct {
	names    []string // in lower case, without a dot at the end
	prefixes []netip.Prefix
}

// ParseHosts reads addresses, prefixes and names. wrong is the first that is none of them, or "".
func ParseHosts(list []string) (h Hosts, wrong string) {
	for _, text := range list {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			h.prefixes = append(h.prefixes, prefix.Masked())
		} else if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			h.prefixes = append(h.prefixes, netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()))
		} else if text == "" || strings.ContainsAny(text, "/:@*? []") {
			return h, text
		} else {
			h.names = append(h.names, canonical(text))
		}
	}
	return h, ""
}

// Name reports whether a host, as a URL has it, is named or is an address in a prefix that is.
func (h Hosts) Name(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(h.prefixes, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) }) ||
		slices.Contains(h.names, canonical(host))
}

func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
