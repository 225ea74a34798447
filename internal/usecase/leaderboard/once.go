package leaderboard

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"levelboard/internal/domain/id"
)

// OnceTTL is how long a request that was made is remembered, unless the settings say otherwise.
const OnceTTL = 4 * time.Hour

// Digest identifies a text of any length by 16 bytes that nobody can find a second text for.
type Digest [16]byte

// DigestOf digests the parts in their order. Where one part ends and the next begins makes a difference.
func DigestOf(parts ...[]byte) Digest {
	h := sha256.New()
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return Digest(h.Sum(nil))
}

// Once names a request that its client may send again: it is done once, whatever happened to the answer. The zero value names none.
type Once struct {
	// Key identifies the name that the client gave to the request, in the namespace of the client.
	Key Digest
	// Request identifies the content of the request. Another content under the same key is rejected.
	Request Digest
	// Part is the number of the step, from 0, of a request that takes several. The first one stands for the request.
	Part int
	// Past is the archive's record of the request; nil when the archive was not asked.
	Past *Past
}

// Past is the archive's record of a named request, or of a step of one.
type Past struct {
	// Epoch is that of AskArchive. When the guild was loaded since, the archive may know something else by now, and the live store asks again.
	Epoch   int64
	Made    bool
	Request Digest
	// Outcome is the result, as the live store recorded it.
	Outcome string
	// Lost are the changed users whose change the live store lost before it was archived: for them it was not made.
	Lost []id.User
}

// Step names a step of the request, if the request is named.
func (o Once) Step(part int) Once {
	if part == 0 || !o.Named() {
		return o
	}
	o.Part, o.Past = part, nil
	o.Key = DigestOf(o.Key[:], binary.BigEndian.AppendUint64(nil, uint64(part)))
	return o
}

// Named reports whether o names a request.
func (o Once) Named() bool { return o != Once{} }
