// Package attack tests that a few clients cannot take the service away from the others, and has nothing that ships: each test attacks the
// real program, which has its default limits, and counts how an ordinary client fares beside it.
package attack
