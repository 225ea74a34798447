package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// maxIDs is how many members are read by their ids at most.
const maxIDs = leaderboard.MaxViewUsers

type knownJSON struct {
	Members []entry   `json:"members"`
	Missing []id.User `json:"missing"`
}

// listMembers answers with members by their ids.
func (a *api) listMembers(c *gin.Context) error {
	gid, err := pathID[id.Guild](c, "guildId")
	if err != nil {
		return err
	}
	var users []id.User
	err = readQuery(c, func(values url.Values) (err error) {
		users, err = queryIDs(values)
		return err
	})
	if err != nil {
		return err
	}
	g, err := a.permitted(c, gid)
	if err != nil {
		return err
	}
	view, err := a.deps.Board.View(c.Request.Context(), g, leaderboard.Look{Users: users})
	if err != nil {
		return err
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, knownBody(g, users, view.Members))
	return nil
}

// queryIDs reads the parameter ids: 1 to maxIDs of users with commas between, each once.
func queryIDs(values url.Values) ([]id.User, error) {
	texts := strings.Split(values.Get("ids"), ",")
	if !values.Has("ids") || len(texts) > maxIDs {
		return nil, fault.New(fault.Invalid, "The query parameter ids is required and must be 1 to %d ids of users with commas between.", maxIDs)
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

// knownBody has the members that were found of those that were asked for, in the order of both.
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
