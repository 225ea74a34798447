package apikey

import "errors"

var (
	// ErrNotFound is an archive's answer for a key that does not exist, because it never did or was revoked.
	ErrNotFound = errors.New("no such API key")
	// ErrTooMany says that the owner has as many keys as they may have.
	ErrTooMany = errors.New("the owner has too many API keys")
	// ErrExpired says that a key's time is over.
	ErrExpired = errors.New("the API key has expired")
	// ErrMalformed says that a text is not the text of a key, so that no store need be asked. It does not quote the text.
	ErrMalformed = errors.New("not the text of an API key")
)
