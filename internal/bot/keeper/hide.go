package keeper

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

// The flags that hide a user.
const (
	byManager = "manager"
	bySelf    = "self"
)

// hides reports whether LEVELBOARD_BOT_HIDE_ROLES names a role.
func (k *Keeper) hides(r chat.Role) bool {
	for _, named := range k.HideRoles {
		if named == r.ID || strings.EqualFold(named, r.Name) {
			return true
		}
	}
	return false
}

// sendHidden hides and shows whom their roles say. The bot notes whom it hides before it does, so that it lifts each flag that it set, and
// forgets those who were hidden already: that flag is a manager's.
func (g *guild) sendHidden(ctx context.Context) error {
	var all map[string]bool
	g.update(func() { all = maps.Clone(g.hide) })
	for userID, hidden := range all {
		if hidden {
			g.save(func(s *state) { s.Hidden[userID] = true })
		}
		changed, err := g.setHidden(ctx, userID, byManager, hidden, "")
		if err != nil {
			return err
		}
		if !hidden || changed == 0 {
			g.save(func(s *state) { delete(s.Hidden, userID) })
		}
		g.update(func() {
			if g.hide[userID] == hidden {
				delete(g.hide, userID)
			}
		})
	}
	return nil
}

func (g *guild) setHidden(ctx context.Context, userID, by string, hidden bool, reason string) (changed int, err error) {
	var answer struct{ Changed int }
	err = g.call(ctx, api.Request{
		Method: http.MethodPut, Path: "/v2/guilds/" + g.id + "/hidden", Reason: reason,
		Body: object{"hidden": hidden, "by": by, "userIds": []string{userID}},
	}, &answer)
	return answer.Changed, err
}

type hiddenUser struct {
	UserID string   `json:"userId"`
	By     []string `json:"by"`
	Level  *int     `json:"level"`
}

// eachHidden calls yield for each hidden user.
func (g *guild) eachHidden(ctx context.Context, yield func(hiddenUser)) error {
	for page, rows := 1, 100; rows == 100; page++ {
		var answer struct{ Hidden []hiddenUser }
		path := fmt.Sprintf("/v2/guilds/%s/hidden?page=%d", g.id, page)
		if err := g.get(ctx, path, &answer); err != nil {
			return err
		}
		for _, u := range answer.Hidden {
			yield(u)
		}
		rows = len(answer.Hidden)
	}
	return nil
}
