package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"

	"levelboard/internal/domain/fault"
)

// redisReasons are for what a Redis server answers, by the first word.
var redisReasons = map[string]string{
	"LOADING":    "it is loading its data from disk",
	"NOAUTH":     "it wants a password",
	"WRONGPASS":  "it does not accept the user name or the password",
	"NOPERM":     "the user may not use a command that is needed",
	"BUSY":       "a script holds it up",
	"MASTERDOWN": "it is a replica that lost its master",
}

// sqlReasons are for what a Postgres server answers, by SQLSTATE.
var sqlReasons = map[string]string{
	"28P01": "it does not accept the password",
	"28000": "it does not accept the user",
	"3D000": "there is no database of that name",
	"42501": "the user may not use a table that is needed",
	"53300": "it has no connection free",
	"57P03": "it is starting or stopping",
	"57P01": "it is stopping",
	"57014": "it took too long",
}

// reason says in a few words why a store could not be used. It is one of a fixed set of phrases, so that no address, name or
// password gets out with it; the log has the error itself.
func reason(err error) string {
	var redisError interface {
		error
		RedisError()
	}
	var sqlError interface{ SQLState() string }
	switch {
	case errors.As(err, &sqlError):
		if reason, known := sqlReasons[sqlError.SQLState()]; known {
			return reason
		}
		return "it answers with an error"
	case errors.As(err, &redisError):
		if why := fault.ChangesRefused(err); why != "" {
			return "reads work and changes do not: " + why
		}
		word, _, _ := strings.Cut(redisError.Error(), " ")
		if reason, known := redisReasons[word]; known {
			return reason
		}
		return "it answers with an error"
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
