package httpapi

import (
	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/edge"
)

const (
	// answerBytes bounds the bytes of answers and events that are encoded but not yet read by their clients.
	answerBytes = 64 << 20
	// answerBytesOfOne is the part of these that one identity, or one address without a key, may have. A
	// client that reads its answers has a few of them waiting; one that does not must not fill the memory.
	answerBytesOfOne = answerBytes / shareOfOne
	// uncounted is the length up to which answers are not counted: a connection's buffers take more.
	uncounted = 16 << 10
	// streamBytes bounds the waiting events that a stream encodes at a time.
	streamBytes = 64 << 10
	// A result of a large change takes less than resultBytes, and less than roleBytes for each of its roles.
	resultBytes, roleBytes = 256, 24
)

// reserve waits until the caller may be sent n more bytes. A large change
// reserves its answer before it is made, since it cannot be rejected afterwards.
func (r *request) reserve(n int) {
	s := stateOf(r.c)
	if r.err != nil || n <= uncounted || s.answer != nil {
		return
	}
	var err error
	if s.answer, err = s.answers.WaitN(r.ctx, edge.Holder(r.c), n); err != nil {
		r.err = full(err)
	}
}

// counted counts n bytes that are about to be sent, unless they were reserved. It fails for a caller with too many unread bytes.
func counted(c *gin.Context, n int) (err error) {
	s := stateOf(c)
	if n > uncounted && s.answer == nil {
		if s.answer, err = s.answers.TakeN(edge.Holder(c), n); err != nil {
			return full(err)
		}
	}
	return nil
}

// resultsOf returns the maximum size of a call's results in bytes: each may name all roles of rewards.
func resultsOf(g *guild.Guild, members int) int {
	return members * (resultBytes + roleBytes*len(g.RewardRoles()))
}
