package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// maxCallMembers and maxCallBytes bound a Call; the service takes 1000 members and 1 MiB.
const maxCallMembers, maxCallBytes = 1000, 1000 << 10

// Call is one request of an import. The command and the pages make the same ones, so that either continues what the other began.
type Call struct {
	Members []leaderboard.Put // at least one
	Body    []byte            // of PUT of members by the operator
}

// written is a member as the service takes it.
type written struct {
	UserID       string       `json:"userId"`
	XP           level.XP     `json:"xp"`
	MessageCount *int64       `json:"messageCount,omitzero"`
	User         *writtenUser `json:"user,omitzero"`
	Present      *bool        `json:"present,omitzero"`
}

type writtenUser struct {
	Avatar        *string `json:"avatar"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      string  `json:"username"`
}

func writtenOf(row *Row) written {
	w := written{UserID: string(row.UserID), XP: row.XP, MessageCount: row.MessageCount}
	if u := row.User; u != nil {
		w.User = &writtenUser{u.Avatar, u.Discriminator, u.GlobalName, u.Username}
	}
	if !row.Present {
		w.Present = &row.Present
	}
	return w
}

func (c *Call) add(row *Row, mode leaderboard.PutMode, member []byte) {
	if len(c.Members) == 0 {
		c.Body = append(c.Body[:0], `{"mode":"`+string(mode)+`","members":[`...)
	} else {
		c.Body = append(c.Body, ',')
	}
	c.Body = append(c.Body, member...)
	c.Members = append(c.Members, leaderboard.Put{
		User: row.UserID, XP: row.XP, MessageCount: row.MessageCount, Data: row.User, Absent: !row.Present,
	})
}

// Calls returns the requests that write Rows, in order. Each is valid until the next one.
func (m *Members) Calls(mode leaderboard.PutMode, curve level.Curve, lowest level.Level) iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		call := &Call{}
		send := func() bool {
			call.Body = append(call.Body, "]}"...)
			ok := yield(call, nil)
			call.Members = call.Members[:0]
			return ok
		}
		for row, err := range m.rows(curve, lowest) {
			var member []byte
			if err == nil {
				member, err = json.Marshal(writtenOf(&row))
			}
			if err != nil {
				yield(nil, fmt.Errorf("write a member: %w", err))
				return
			}
			full := len(call.Members) == maxCallMembers || len(call.Members) > 0 && len(call.Body)+len(member) > maxCallBytes
			if full && !send() {
				return
			}
			call.add(&row, mode, member)
		}
		if len(call.Members) > 0 {
			send()
		}
	}
}

// PlanHash is the SHA-256 of all Calls, in hexadecimal: another order of the files, another curve or least level makes another one.
func (m *Members) PlanHash(mode leaderboard.PutMode, curve level.Curve, lowest level.Level) (string, error) {
	h := sha256.New()
	for call, err := range m.Calls(mode, curve, lowest) {
		if err != nil {
			return "", err
		}
		h.Write(call.Body)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
