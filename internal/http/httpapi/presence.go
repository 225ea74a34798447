package httpapi

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

// presenceRequest is the body of PUT of presence.
type presenceRequest struct {
	Present bool      `json:"present"`
	UserIDs []id.User `json:"userIds" items:"1..1000"`
}

// putPresence takes members off the board or brings them back.
func (a *api) putPresence(r *request) (any, error) {
	r.guild()
	presence, err := readPresence(r.body())
	r.keep(err)
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	return a.deps.Board.SetPresence(r.ctx, g, presence)
}

// readPresence reads the body. A user named twice counts once.
func readPresence(sent []byte) (p leaderboard.Presence, err error) {
	var request presenceRequest
	if err := strictjson.Decode(sent, &request); err != nil {
		return p, err
	}
	seen := make(map[id.User]bool, len(request.UserIDs))
	p.Present = request.Present
	for _, user := range request.UserIDs {
		if !seen[user] {
			seen[user] = true
			p.Users = append(p.Users, user)
		}
	}
	return p, nil
}
