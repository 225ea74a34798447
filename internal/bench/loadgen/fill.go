package loadgen

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
)

// firstUser is the id of the first member; the others follow. No account has such an id before the year 2083.
const firstUser = 9_100_000_000_000_000_000

func appendUserID(b []byte, member int) []byte {
	return strconv.AppendInt(b, firstUser+int64(member), 10)
}

// memberOf is the member of a user's id, or -1 when it is none of the n.
func memberOf(user string, n int) int {
	number, err := strconv.ParseInt(user, 10, 64)
	if err != nil || number < firstUser || number >= firstUser+int64(n) {
		return -1
	}
	return int(number - firstUser)
}

// fill is the operation that creates every member once; one that exists stays as it is.
func fill() operation {
	var created atomic.Int64
	return operation{name: "create", start: func(s *shared, _ *rand.Rand) step {
		return &fillStep{shared: s, created: &created}
	}}
}

type fillStep struct {
	*shared
	created *atomic.Int64
}

func (s *fillStep) next(b []byte) ([]byte, bool) {
	member := s.created.Add(1) - 1
	if member >= int64(s.members) {
		return b, false
	}
	// As long as what a bot sends of a member.
	body := fmt.Sprintf(`{"xp":%d,"user":{"avatar":"%032x","discriminator":"0","globalName":"Bench Member %d","username":"bench.member.%06d"}}`,
		member%5000, uint64(member+1)*0x9E3779B97F4A7C15, member, member)
	b = append(b, "POST "...)
	b = appendUserPath(b, s.shared, int(member))
	b = append(b, s.headersOf(int(member))...)
	b = appendBodyHeaders(b, len(body))
	return append(b, body...), true
}

func (*fillStep) settle(a answer) bool {
	return a.status == http.StatusOK || a.status == http.StatusConflict
}
