// Package fault defines the service's errors. A fault has a code, which becomes the HTTP status; a
// public message, which tells a client in a plain sentence what to do and never holds a secret or
// a cause; and the wrapped cause, which only the log shows. It writes neither answers nor logs.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Code is the kind of a failure, as the HTTP status to answer. The zero value
// is Internal, so that an error without a code is never blamed on a client.
type Code int

// The codes.
const (
	Internal             Code = 0
	Invalid              Code = http.StatusBadRequest
	Unauthenticated      Code = http.StatusUnauthorized
	Forbidden            Code = http.StatusForbidden
	NotFound             Code = http.StatusNotFound
	MethodNotAllowed     Code = http.StatusMethodNotAllowed
	Conflict             Code = http.StatusConflict
	TooLarge             Code = http.StatusRequestEntityTooLarge
	UnsupportedMediaType Code = http.StatusUnsupportedMediaType
	RateLimited          Code = http.StatusTooManyRequests
	Unavailable          Code = http.StatusServiceUnavailable
)

// Status returns the HTTP status.
func (c Code) Status() int { return cmp.Or(int(c), http.StatusInternalServerError) }

// Error is a fault. Message is public; Cause is not.
type Error struct {
	Code    Code
	Message string
	Cause   error
	// Path names the part of a JSON body that is wrong, such as curve or roles[0].id. It is empty when no single part is.
	Path string
	// RetryAfter is how long a client should wait before it tries again. Only RateLimited and Unavailable use it.
	RetryAfter time.Duration
}

// New returns a fault with a public message in the manner of fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns a fault with a public message and the cause that only the log sees.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// At returns a fault with code Invalid about the part of a JSON body at path. Its message is the path
// ("The body" if empty), then the rule that is broken, as fmt.Sprintf formats it: "must be a string".
func At(path, rule string, args ...any) *Error {
	subject := path
	if subject == "" {
		subject = "The body"
	}
	return &Error{Code: Invalid, Path: path, Message: subject + " " + fmt.Sprintf(rule, args...)}
}

// Because sets the cause, and returns e.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// Rule returns the message without the path that it begins with.
func (e *Error) Rule() string {
	if e.Path == "" {
		return e.Message
	}
	return strings.TrimPrefix(e.Message, e.Path+" ")
}

// Down returns an Unavailable fault for a store that cannot be reached, or that
// refuses changes; its message then says why. op names what was tried, for the log.
func Down(op string, cause error) *Error {
	message := "The service cannot reach its storage at the moment. Try again in a few seconds."
	if why := ChangesRefused(cause); why != "" {
		message = "Redis answers reads and refuses changes at the moment: " + why + ". Try again in a few seconds."
	}
	return &Error{
		Code:       Unavailable,
		Message:    message,
		Cause:      fmt.Errorf("%s: %w", op, cause),
		RetryAfter: 2 * time.Second,
	}
}

// Error is the text for the log: the public message and the cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + " (" + e.Cause.Error() + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// From returns the fault in err's chain, or an Internal fault that wraps err. It returns nil for nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return Wrap(err, Internal, "Something went wrong on our side. Try again later; if it persists, report the request id.")
}

// Is reports whether err is a fault with this code.
func Is(err error, code Code) bool {
	return err != nil && From(err).Code == code
}
