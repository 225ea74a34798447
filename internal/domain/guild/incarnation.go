package guild

import (
	"crypto/rand"
	"encoding/binary"
)

// NewIncarnation returns a random positive number that no other creation of a guild has.
func NewIncarnation() Incarnation {
	for {
		var b [8]byte
		rand.Read(b[:]) // never fails
		if n := Incarnation(binary.LittleEndian.Uint64(b[:]) >> 1); n != 0 {
			return n
		}
	}
}
