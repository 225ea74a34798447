// Package http3 stands where Gin wants HTTP/3, which Levelboard does not serve; go.mod says so. What it stands for would be
// over 1 MB of the binary, and a network protocol to keep an eye on.
package http3

import (
	"errors"
	"net/http"
)

// ListenAndServeQUIC fails.
func ListenAndServeQUIC(addr, certFile, keyFile string, handler http.Handler) error {
	return errors.New("HTTP/3 is not part of this build")
}
