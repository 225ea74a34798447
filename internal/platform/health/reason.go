package health

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"levelboard/internal/domain/fault"
)

// reason says why a store could not be used: in the words of a server that answered, else by the cause of the failed
// connection. The errors around these may hold an address or a password, so only the log gets the whole error.
func reason(err error) string {
	var redisError interface {
		error
		RedisError()
	}
	var sqlError interface {
		error
		SQLState() string
	}
	var timeout net.Error
	var system syscall.Errno
	var unknownHost *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case fault.ChangesRefused(err) != "":
		return "reads work and changes do not: " + fault.ChangesRefused(err)
	case errors.As(err, &sqlError):
		return sqlError.Error()
	case errors.As(err, &redisError):
		return redisError.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer in time"
	case errors.As(err, &system):
		return system.Error()
	case errors.As(err, &unknownHost):
		return unknownHost.Err
	case errors.As(err, &certificate):
		return certificate.Err.Error()
	}
	return "it cannot be reached"
}
