package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json"

	"levelboard/internal/usecase/leaderboard"
)

// maxCallMembers and maxCallBytes bound a Call; the service takes 1000 members and 1 MiB.
const maxCallMembers, maxCallBytes = 1000, 1000 << 10

// Call is one request of an import.
type Call struct {
	Name    string // of no other call
	Mode    leaderboard.PutMode
	Members []leaderboard.Put // at least one
}

// calls returns the requests that write the members, in order, named by their places. Each is valid until the next one.
func (i *Import) calls() iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		call, size, n := Call{Mode: i.Mode}, 0, 0
		send := func() bool {
			call.Name = strconv.Itoa(n)
			ok := yield(call, nil)
			call.Members, size, n = call.Members[:0], 0, n+1
			return ok
		}
		for row, err := range i.Members.rows(i.Curve, i.MinLevel) {
			if err != nil {
				yield(Call{}, fmt.Errorf("write a member: %w", err))
				return
			}
			more := sizeOf(&row)
			if (len(call.Members) == maxCallMembers || len(call.Members) > 0 && size+more > maxCallBytes) && !send() {
				return
			}
			call.Members = append(call.Members, leaderboard.Put{
				User: row.UserID, XP: row.XP, MessageCount: row.MessageCount, Data: row.User, Absent: !row.Present, Hidden: row.Hidden,
			})
			size += more
		}
		if len(call.Members) > 0 {
			send()
		}
	}
}

// sizeOf is the most bytes that a member takes as JSON, in which a byte of a text may be six.
func sizeOf(row *Row) int {
	const fixed, escaped = 250, 6
	if row.User == nil {
		return fixed
	}
	u := row.User
	return fixed + escaped*(len(u.Username)+len(u.Discriminator)+len(orEmpty(u.GlobalName))+len(orEmpty(u.Avatar)))
}

// planHash is the SHA-256 of by and all calls, in hexadecimal: another order of the files, another curve or least level changes it.
func (i *Import) planHash(ctx context.Context, by string) (string, error) {
	h := sha256.New()
	h.Write([]byte(by))
	for call, err := range i.calls() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = json.MarshalWrite(h, call)
		}
		if err != nil {
			return "", fmt.Errorf("hash the calls of an import: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
