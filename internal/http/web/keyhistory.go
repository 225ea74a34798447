package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
)

// recordsShown is how much of the history is on one page.
const recordsShown = 50

// recordView is one change of a key.
type recordView struct {
	apikey.Record
	Guilds []community // some of those that it was about
	More   int         // how many more there are
	mine   bool
}

// Shown is how the key's text begins.
func (r recordView) Shown() string { return apikey.Shown(r.KeyID) }

// Who is who did it.
func (r recordView) Who() string {
	switch {
	case r.mine:
		return "You"
	case r.By == apikey.Operator:
		return "The operator"
	case r.By == apikey.Service:
		return "Levelboard"
	default:
		return "User " + string(r.By)
	}
}

// historyPage is the content of /profile/history.
type historyPage struct {
	Records []recordView
	Newest  bool  // it begins with the newest record
	Before  int64 // where the next page begins; 0 on the last
}

func (s *Site) keyHistory(c *gin.Context) error {
	session, err := signedIn(c, whyKeys)
	if err != nil {
		return err
	}
	content := historyPage{}
	before := int64(0)
	if text, ok := c.GetQuery("before"); ok {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return fault.New(fault.Invalid, "The history has no such place. Begin with its newest part.")
		}
	}
	content.Newest = before == 0
	if content.Records, content.Before, err = s.records(c.Request.Context(), session.User.ID, before, recordsShown); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "key-history", "What was done to your keys", content)
}

// records reads a piece of the history; next is where the one after it begins, 0 when there is none.
func (s *Site) records(ctx context.Context, user id.User, before int64, limit int) (list []recordView, next int64, err error) {
	found, err := s.deps.Keys.History(ctx, user, before, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].Number
	}
	for _, r := range found {
		view := recordView{Record: r, mine: r.By == apikey.User(user)}
		named := r.GuildIDs[:min(namedAtOnce, len(r.GuildIDs))]
		view.More = len(r.GuildIDs) - len(named)
		for _, g := range named {
			known, err := s.community(ctx, g)
			if err != nil {
				return nil, 0, err
			}
			view.Guilds = append(view.Guilds, known)
		}
		list = append(list, view)
	}
	return list, next, nil
}
