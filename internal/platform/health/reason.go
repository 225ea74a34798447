package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"

	"levelboard/internal/domain/fault"
)

// reason says why a store could not be used: in the words of a server that answered, else in one of a fixed set of phrases, so that no address and no
// password of the connection gets out with it. The log has the error itself.
func reason(err error) string {
	var redisError interface {
		error
		RedisError()
	}
	var sqlError interface {
		error
		SQLState() string
	}
	switch {
	case fault.ChangesRefused(err) != "":
		return "reads work and changes do not: " + fault.ChangesRefused(err)
	case errors.As(err, &sqlError):
		return sqlError.Error()
	case errors.As(err, &redisError):
		return redisError.Error()
	}
	return connectionReason(err)
}

func connectionReason(err error) string {
	var unknownHost *net.DNSError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &certificate), errors.As(err, &authority):
		return "its TLS certificate is not valid"
	case errors.As(err, &unknownHost) && unknownHost.IsNotFound:
		return "its host name is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at its address"
	case errors.Is(err, os.ErrNotExist):
		return "its file or socket does not exist"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer in time"
	}
	return "it cannot be reached"
}
