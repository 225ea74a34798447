package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/leaderboard"
)

// maxIDs is the maximum number of members read by their ids.
const maxIDs = leaderboard.MaxViewUsers

type knownJSON struct {
	Members []entry   `json:"members"`
	Missing []id.User `json:"missing"`
}

// membersWanted says which members are requested: users by their ids, or at most limit by a name.
type membersWanted struct {
	users []id.User
	name  leaderboard.Query
	limit int64
}

// listMembers answers with members by their ids, or by the beginning of a name.
func (a *api) listMembers(r *request) (any, error) {
	r.guild()
	want := r.wantedMembers()
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	if want.users == nil {
		found, err := a.deps.Finder.Search(r.ctx, edge.Holder(r.c), g, want.name, int(want.limit))
		return object{"members": rankedEntries(g.Curve, found.Members)}, err
	}
	view, err := a.deps.Board.View(r.ctx, g, leaderboard.Look{Users: want.users})
	return knownBody(g, want.users, view.Members), err
}

// wantedMembers reads either ids, or search with limit.
func (r *request) wantedMembers() (w membersWanted) {
	byName := r.query.Has("search")
	if byName == r.query.Has("ids") {
		r.keep(fault.New(fault.Invalid, "The query needs either ids, which names up to %d users with commas between, or search, the beginning of a name.", maxIDs))
	}
	if !byName && r.query.Has("limit") {
		r.keep(fault.New(fault.Invalid, "The query parameter limit goes with search. Leave it out with ids."))
	}
	w.limit = r.optionalInt("limit", 1, leaderboard.MaxFound, leaderboard.MaxFound)
	var err error
	if byName {
		w.name, err = leaderboard.ParseQuery(r.query.Get("search"))
	} else {
		w.users, err = queryIDs(r.query)
	}
	r.keep(err)
	return w
}

// queryIDs reads the parameter ids: 1 to maxIDs different ids of users, separated by commas.
func queryIDs(values url.Values) ([]id.User, error) {
	texts := strings.Split(values.Get("ids"), ",")
	if len(texts) > maxIDs {
		return nil, fault.New(fault.Invalid, "The query parameter ids names more than %d users. Ask for the others in another request.", maxIDs)
	}
	users := make([]id.User, len(texts))
	for i, text := range texts {
		user, err := id.Parse[id.User](text)
		if err != nil {
			return nil, fault.New(fault.Invalid, "Each of ids, with commas between, %s. %q is not one.", err, shorten(text))
		}
		if slices.Contains(users[:i], user) {
			return nil, fault.New(fault.Invalid, "The query parameter ids names %s more than once. Name each user once.", user)
		}
		users[i] = user
	}
	return users, nil
}

// knownBody has the members of asked that were found, and the ids of the others. asked and found have the same order.
func knownBody(g *guild.Guild, asked []id.User, found []leaderboard.Ranked) knownJSON {
	body := knownJSON{Members: rankedEntries(g.Curve, found), Missing: []id.User{}}
	for _, user := range asked {
		if len(found) > 0 && found[0].UserID == user {
			found = found[1:]
		} else {
			body.Missing = append(body.Missing, user)
		}
	}
	return body
}
