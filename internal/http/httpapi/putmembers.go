package httpapi

import (
	"fmt"
	"slices"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

// putMembersRequest is the body of PUT of members.
type putMembersRequest[M any] struct {
	Mode    leaderboard.PutMode `json:"mode"`
	Members []M                 `json:"members" items:"1..1000"`
}

type putMemberRequest struct {
	UserID       id.User                          `json:"userId"`
	XP           int64                            `json:"xp" bounds:"0..2147483647"`
	MessageCount strictjson.Optional[int64]       `json:"messageCount" bounds:"0..2147483647"`
	User         strictjson.Optional[userRequest] `json:"user"`
}

type putResultJSON struct {
	UserID       id.User              `json:"userId"`
	Outcome      leaderboard.PutState `json:"outcome"`
	XP           level.XP             `json:"xp"`
	Level        level.Level          `json:"level"`
	MessageCount int64                `json:"messageCount"`
}

func (a *api) putMembers(r *request) (any, error) { return a.put(r, readPuts) }

// put changes many members at once. It reads all of them before it changes the first.
func (a *api) put(r *request, read func(sent []byte) (leaderboard.Puts, error)) (any, error) {
	r.guild()
	r.idempotencyKey()
	r.largeBody()
	if r.err != nil {
		return nil, r.err
	}
	puts, err := read(r.sent)
	r.keep(err)
	g := r.permitted()
	r.reserve(resultBytes * len(puts.Members))
	if r.err != nil {
		return nil, r.err
	}
	puts.Once = r.once()
	done, replayed, err := a.deps.Board.Put(r.ctx, g, puts)
	r.replayed(replayed)
	results := make([]putResultJSON, len(done))
	for i, d := range done {
		results[i] = putResultJSON{puts.Members[i].User, d.State, d.XP, g.Curve.LevelAt(d.XP), d.MessageCount}
	}
	return object{"results": results}, err
}

func readPuts(sent []byte) (leaderboard.Puts, error) {
	return readPutsOf(sent, (*putMemberRequest).put)
}

// readPutsOf reads the body. The error is a fault that names the place, as members[17].userId.
func readPutsOf[M any](sent []byte, put func(m *M, place string) (leaderboard.Put, error)) (p leaderboard.Puts, err error) {
	var request putMembersRequest[M]
	if err := strictjson.Decode(sent, &request); err != nil {
		return p, err
	}
	if p.Mode = request.Mode; !slices.Contains(leaderboard.PutModes, p.Mode) {
		return p, fault.New(fault.Invalid, "mode must be set, higher, add or missing")
	}
	seen := make(map[id.User]bool, len(request.Members))
	p.Members = make([]leaderboard.Put, len(request.Members))
	for i := range request.Members {
		place := fmt.Sprintf("members[%d].", i)
		if p.Members[i], err = put(&request.Members[i], place); err != nil {
			return p, err
		}
		user := p.Members[i].User
		if seen[user] {
			return p, fault.New(fault.Invalid, "%suserId is given more than once. Name each member once.", place)
		}
		seen[user] = true
	}
	return p, nil
}

func (r *putMemberRequest) put(place string) (p leaderboard.Put, err error) {
	p = leaderboard.Put{User: r.UserID, XP: level.XP(r.XP)}
	if count, ok := r.MessageCount.Get(); ok {
		p.MessageCount = &count
	}
	if sent, ok := r.User.Get(); ok {
		user, err := sent.user(place + "user")
		if err != nil {
			return p, err
		}
		p.Data = &user
	}
	return p, nil
}
