package testenv

import (
	"net"
	"net/netip"
	"testing"
)

// A connection's own end may have any port that the system hands out, so one of those may be gone when a test wants it again.
func TestFreeAddrIsForNobodyElse(t *testing.T) {
	var first string
	t.Run("a test", func(t *testing.T) {
		first = FreeAddr(t)
		if second := FreeAddr(t); second == first {
			t.Errorf("%s twice", first)
		}
		if got := netip.MustParseAddrPort(first); !got.Addr().IsLoopback() || got.Port() >= 32768 {
			t.Errorf("%s is not the loopback's, or may become an outgoing connection's", first)
		}
		if _, err := net.ListenPacket("udp", first); err == nil {
			t.Errorf("%s is not reserved", first)
		}
		for range 2 {
			listener, err := net.Listen("tcp", first)
			if err != nil {
				t.Fatal(err)
			}
			listener.Close()
		}
	})
	hold, err := net.ListenPacket("udp", first)
	if err != nil {
		t.Fatalf("after the test: %v", err)
	}
	hold.Close()
}
