package leaderboard

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"levelboard/internal/domain/id"
)

// OnceTTL is how long the record of a request is kept by default.
const OnceTTL = 4 * time.Hour

// Digest is a collision-resistant digest of 16 bytes.
type Digest [16]byte

// DigestOf digests the parts in order. The boundaries between parts matter.
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

// Once names a request that its client may send again. The request is done once, even if its answer is lost. The zero value names none.
type Once struct {
	// Key is a digest of the client and of the name that the client gave to the request.
	Key Digest
	// Request is a digest of the request's content. Other content under the same key is rejected.
	Request Digest
	// Part is the number of the step, from 0, in a request of several steps. The record of step 0 stands for the request.
	Part int
	// Past is the archive's record of the request; nil if the archive was not asked.
	Past *Past
}

// Past is the archive's record of a named request, or of a step of one.
type Past struct {
	// Epoch is that of AskArchive. After another load of the guild this record may be stale, and the live store returns ErrAskArchive again.
	Epoch   int64
	Made    bool
	Request Digest
	// Outcome is the result, in the live store's format.
	Outcome string
	// Lost are the users whose change the live store lost before it was archived.
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
