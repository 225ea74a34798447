// Package signin says who is at the browser: it sends people to an OAuth 2.0 provider (authorization code with PKCE), learns
// from it who they are and which guilds they are in, own or administer, and remembers that in sessions.
//
// A session is a secret of 256 random bits, which only the browser has. The store keeps it under the secret's SHA-256, sealed
// with a key that is derived from the secret, so what is in the store neither opens a session nor shows the provider's tokens.
//
// The package knows no pages and no cookies, those are package web's, and no store; it declares the one that it needs.
package signin
