// Package attack tests that a few clients cannot take the service away from others. Each test attacks the real program with its default
// limits, and counts how an ordinary client fares meanwhile. Nothing here ships.
package attack
