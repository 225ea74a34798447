package app

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"levelboard/internal/platform/metrics"
	"levelboard/internal/store/ratelimit"
)

// descriptorReserve is how many file descriptors stay free of API connections, for Redis, the archive and the ops listener.
const descriptorReserve = 256

var (
	connectionsOpen = metrics.NewGauge("levelboard_http_connections_open",
		"Connections to the API's listener that are open.")
	connectionsRefused = metrics.NewCounterVec("levelboard_http_connections_refused_total",
		"Connections to the API's listener that were closed at once: address (the address had the maximum), descriptors (the process had).", "reason", reasonAddress, reasonDescriptors)
	acceptErrors = metrics.NewCounter("levelboard_http_accept_errors_total",
		"Connections to the API's listener that the system could not accept.")
)

const (
	reasonAddress     = "address"
	reasonDescriptors = "descriptors"
)

// sendBuffer is how many unsent bytes the kernel buffers for each connection. By default it buffers some MiB, which count as the
// container's memory.
const sendBuffer = 128 << 10

// connections is a listener that bounds its open connections, in total and for each address.
type connections struct {
	net.Listener
	most       int            // in total
	perAddress int            // 0 means no bound
	exempt     []netip.Prefix // proxies, whose connections serve many clients
	log        *slog.Logger

	mu   sync.Mutex
	open int
	of   map[string]int // open connections by boundName
}

// boundConnections bounds the connections of a listener. A perAddress of 0 means no bound; proxies have none either.
func boundConnections(l net.Listener, perAddress int, proxies []netip.Prefix, log *slog.Logger) *connections {
	return &connections{
		Listener: l, most: mostConnections(descriptorLimit()), perAddress: perAddress, exempt: proxies, log: log, of: map[string]int{},
	}
}

// mostConnections returns how many connections to accept. It leaves the reserve, or half of the descriptors when there are few.
func mostConnections(descriptors int) int { return max(descriptors-descriptorReserve, descriptors/2) }

// Accept implements net.Listener. It closes connections beyond the bounds.
func (c *connections) Accept() (net.Conn, error) {
	for {
		accepted, err := c.Listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				acceptErrors.Inc()
				c.log.Warn("a connection could not be accepted; if descriptors ran out, raise the limit on open files", "error", err)
			}
			return nil, err
		}
		address := addressOf(accepted)
		if refused := c.take(address); refused != "" {
			connectionsRefused.WithLabelValues(refused).Inc()
			c.log.Warn("a connection was closed at once, because too many are open: see LEVELBOARD_CONNECTIONS_PER_ADDRESS and the limit on open files",
				"reason", refused, "address", address)
			_ = accepted.Close()
			continue
		}
		if tcp, ok := accepted.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer)
		}
		return &connection{Conn: accepted, release: sync.OnceFunc(func() { c.release(address) })}, nil
	}
}

// take counts a connection. It returns the reason to refuse it, or "" if it is accepted.
func (c *connections) take(address netip.Addr) (refused string) {
	name := c.boundName(address)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open >= c.most:
		return reasonDescriptors
	case name != "" && c.of[name] >= c.perAddress:
		return reasonAddress
	}
	c.open++
	connectionsOpen.Set(float64(c.open))
	if name != "" {
		c.of[name]++
	}
	return ""
}

func (c *connections) release(address netip.Addr) {
	name := c.boundName(address)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	connectionsOpen.Set(float64(c.open))
	if name == "" {
		return
	}
	if c.of[name]--; c.of[name] == 0 {
		delete(c.of, name)
	}
}

// boundName returns the name under which an address' connections are counted, or "" if the address has no bound.
func (c *connections) boundName(address netip.Addr) string {
	exempt := func(prefix netip.Prefix) bool { return prefix.Contains(address) }
	if c.perAddress == 0 || !address.IsValid() || slices.ContainsFunc(c.exempt, exempt) {
		return ""
	}
	return ratelimit.AddressName(address)
}

func addressOf(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// connection gives its place back when it is closed.
type connection struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.release()
	return c.Conn.Close()
}

// serverErrors is the log of net/http's server. A panic outside a handler is a fault of the service; all other messages are caused by clients.
type serverErrors struct{ log *slog.Logger }

// Write implements io.Writer.
func (s serverErrors) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if strings.HasPrefix(text, "http: panic") {
		s.log.Error("a connection failed unexpectedly; please report it", "error", text)
	} else {
		s.log.Debug("net/http", "error", text)
	}
	return len(line), nil
}
