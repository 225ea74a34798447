package httpapi

import (
	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/edge"
)

const (
	// answerBytes is how many bytes of answers and events are encoded and not taken by their clients yet.
	answerBytes = 64 << 20
	// answerBytesOfOne is how many of them may be one identity's, or one address's without a key: a client that reads its answers has a few
	// of them waiting, one that does not read must not fill the memory.
	answerBytesOfOne = answerBytes / shareOfOne
	// uncounted is the length of answers that are not worth counting: a connection's buffers take more.
	uncounted = 16 << 10
	// streamBytes is how much of the events that are due a stream encodes at a time.
	streamBytes = 64 << 10
	// resultBytes and roleBytes are more than a result of a large change takes without its roles, and than one of those.
	resultBytes, roleBytes = 256, 24
)

// reserve waits until the caller may be sent n more bytes. A large change reserves its answer before it is made, for afterwards nothing
// can be refused.
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

// counted counts n bytes that are about to be sent, unless they were reserved. The error is that of a caller who leaves too many unread.
func counted(c *gin.Context, n int) (err error) {
	s := stateOf(c)
	if n > uncounted && s.answer == nil {
		if s.answer, err = s.answers.TakeN(edge.Holder(c), n); err != nil {
			return full(err)
		}
	}
	return nil
}

// resultsOf is at most how many bytes the results of a call have: each may name every role that is a reward.
func resultsOf(g *guild.Guild, members int) int {
	return members * (resultBytes + roleBytes*len(g.RewardRoles()))
}
