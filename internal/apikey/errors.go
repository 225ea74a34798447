package apikey

import "errors"

var (
	// ErrNotFound is an archive's answer for a key that does not exist, because it never did or was revoked.
	ErrNotFound = errors.New("no such API key")
	// ErrMalformed says that a text is not the text of a key, so that no store need be asked. It does not quote the text.
	ErrMalformed = errors.New("not the text of an API key")
)
