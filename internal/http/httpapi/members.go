package httpapi

import (
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

func (a *api) getMember(r *request) (any, error) {
	user := r.member()
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	member, err := a.deps.Board.Member(r.ctx, g, user)
	return memberBody(g, member), err
}

// createRequest is the body of POST of a member.
type createRequest struct {
	XP   int64       `json:"xp" bounds:"0..2147483647"`
	User userRequest `json:"user"`
}

type userRequest struct {
	Avatar        *string                      `json:"avatar"`
	Discriminator string                       `json:"discriminator" bytes:"0..256"`
	Username      string                       `json:"username" bytes:"0..256"`
	GlobalName    strictjson.Optional[*string] `json:"globalName" bytes:"0..256"`
}

// user checks what strictjson does not. place is the path of the user in the body; errors begin with it.
func (u userRequest) user(place string) (leaderboard.User, error) {
	if u.Avatar != nil && !guild.ValidHash(*u.Avatar) {
		return leaderboard.User{}, fault.New(fault.Invalid, "%s.avatar %s", place, avatarSentence)
	}
	return leaderboard.User{
		Avatar: u.Avatar, Discriminator: u.Discriminator, Username: u.Username, GlobalName: u.GlobalName.Or(nil),
	}, nil
}

const avatarSentence = "must be an avatar hash (" + guild.HashRule + ") or null"

func (a *api) createMember(r *request) (any, error) {
	user := r.member()
	r.idempotencyKey()
	var sent createRequest
	r.decode(&sent)
	data, err := sent.User.user("user")
	r.keep(err)
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	out, err := a.deps.Board.Create(r.ctx, g, user, leaderboard.Creation{XP: level.XP(sent.XP), User: data, Once: r.once()})
	return r.changed(g, out), err
}

// changed returns the answer to a change of a member.
func (r *request) changed(g *guild.Guild, out leaderboard.Outcome) (body summaryJSON) {
	r.replayed(out.Replayed)
	body.Level.Level, body.Level.MessageCount, body.Level.XP = g.Curve.LevelAt(out.After), out.MessageCount, out.After
	return body
}

// updateRequest is the body of PATCH. XP is a number or an object, so it is read in a second step.
type updateRequest struct {
	XP              strictjson.Value          `json:"xp" bounds:"0..2147483647"`
	TriggerCooldown strictjson.Optional[bool] `json:"triggerCooldown"`
}

type relativeXP struct {
	Increment strictjson.Optional[int64] `json:"increment" bounds:"1..2147483647"`
	Decrement strictjson.Optional[int64] `json:"decrement" bounds:"1..2147483647"`
}

func readXP(sent strictjson.Value) (op leaderboard.Op, amount level.XP, err error) {
	switch sent.Kind() {
	case '0':
		err = sent.Decode(&amount)
		return leaderboard.Set, amount, err
	case '{':
		var relative relativeXP
		if err := sent.Decode(&relative); err != nil {
			return "", 0, err
		}
		increment, up := relative.Increment.Get()
		decrement, down := relative.Decrement.Get()
		switch {
		case up && !down:
			return leaderboard.Increment, level.XP(increment), nil
		case down && !up:
			return leaderboard.Decrement, level.XP(decrement), nil
		}
	}
	return "", 0, fault.New(fault.Invalid, "xp must be a whole number from 0 to %d, or an object with either increment or decrement", level.MaxXP)
}

func (a *api) updateMember(r *request) (any, error) {
	user := r.member()
	r.idempotencyKey()
	var sent updateRequest
	r.decode(&sent)
	op, amount, err := readXP(sent.XP)
	r.keep(err)
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	change := leaderboard.Change{Op: op, Amount: amount, Once: r.once()}
	if sent.TriggerCooldown.Or(false) {
		change.Cooldown = g.Cooldown()
	}
	out, err := a.deps.Board.Change(r.ctx, g, user, change)
	return r.changed(g, out), err
}

func (a *api) deleteMember(r *request) (any, error) {
	user := r.member()
	r.idempotencyKey()
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	replayed, err := a.deps.Board.Delete(r.ctx, g, user, r.once())
	r.replayed(replayed)
	return nil, err
}

// roleRewardChanges answers with the roles that a member gains and loses at a level.
func (a *api) roleRewardChanges(r *request) (any, error) {
	r.guild()
	at := r.int("level", 0, int64(level.Max))
	if !id.Valid(r.query.Get("userId")) {
		r.keep(fault.New(fault.Invalid, "The query parameter userId is required and %s.", id.ErrSnowflake))
	}
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	add, remove := g.RoleChanges(level.Level(at))
	return struct {
		AddRoles    []id.Role `json:"addRoles"`
		RemoveRoles []id.Role `json:"removeRoles"`
	}{add, remove}, nil
}
