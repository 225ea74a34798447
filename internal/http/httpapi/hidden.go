package httpapi

import (
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/leaderboard"
)

// hiddenRequest is the body of PUT of hidden users.
type hiddenRequest struct {
	Hidden  bool                        `json:"hidden"`
	By      strictjson.Optional[string] `json:"by"`
	UserIDs []id.User                   `json:"userIds" items:"1..1000"`
}

type hiddenJSON struct {
	UserID id.User           `json:"userId"`
	By     []string          `json:"by"`
	User   *leaderboard.User `json:"user"`
	XP     *level.XP         `json:"xp"`
	Level  *level.Level      `json:"level"`
}

// putHidden sets or lifts one flag of several users.
func (a *api) putHidden(r *request) (any, error) {
	r.guild()
	var sent hiddenRequest
	r.decode(&sent)
	step, err := sent.step()
	r.keep(err)
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	changed, err := a.deps.Hiding.Set(r.ctx, g.ID, step)
	return object{"changed": changed}, err
}

func (h hiddenRequest) step() (hiding.Step, error) {
	by, ok := hidden.Parse(h.By.Or("manager"))
	if !ok {
		return hiding.Step{}, fault.New(fault.Invalid, "by must be manager or self, or left out for manager.")
	}
	return hiding.Step{By: by, Hidden: h.Hidden, Users: h.UserIDs}, nil
}

func (a *api) listHidden(r *request) (any, error) {
	r.guild()
	number := min(r.page(), leaderboard.MaxPage)
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	listed, _, err := a.deps.Hiding.List(r.ctx, g, number)
	list := make([]hiddenJSON, len(listed))
	for i, l := range listed {
		list[i] = hiddenJSON{UserID: l.User.User, By: l.Flags.Words()}
		if l.Entry != nil {
			list[i].User, list[i].XP, list[i].Level = &l.Entry.User, &l.Entry.XP, new(g.Curve.LevelAt(l.Entry.XP))
		}
	}
	return object{"hidden": list}, err
}

// shown returns a 404 for a hidden member, unless the caller is a key with a grant, a manager, or the member.
func shown(who edge.Caller, g *guild.Guild, m leaderboard.Ranked) error {
	if !m.Hidden || who.Key != nil && who.Key.Granted(g.ID) || who.Manages(g) || who.Session != nil && who.User() == m.UserID {
		return nil
	}
	return leaderboard.NoMember()
}
