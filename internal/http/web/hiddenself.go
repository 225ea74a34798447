package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/signin"
)

// hidingSwitch shows users on their profile whether they are hidden in a community.
type hidingSwitch struct {
	Community community
	guild     *guild.Guild
	entry     *erasure.Membership // nil if there is none
	hidden.Flags
}

// hidingSwitches lists the communities in which a user has an entry or a flag, by name.
func (s *Site) hidingSwitches(ctx context.Context, stored erasure.Stored) ([]hidingSwitch, error) {
	var all []hidingSwitch
	for _, in := range stored.ByGuild() {
		g, err := s.deps.Guilds.ByID(ctx, in.Guild)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, hidingSwitch{communityOf(g), g, in.Entry, in.Flags})
	}
	slices.SortStableFunc(all, func(a, b hidingSwitch) int { return byName(a.Community, b.Community) })
	return all, nil
}

// hideMe sets or lifts a user's own flag, in one community, or in all in which they have an entry or a flag.
func (s *Site) hideMe(c *gin.Context, session *signin.Session, sent *form) error {
	ctx, hide, wanted := c.Request.Context(), sent.Value("hidden") == "yes", sent.Value("guild")
	stored, err := s.deps.Users.Known(ctx, session.User.ID)
	if err != nil {
		return err
	}
	switches, err := s.hidingSwitches(ctx, stored)
	if err != nil {
		return err
	}
	if wanted != "" {
		switches = slices.DeleteFunc(switches, func(h hidingSwitch) bool { return string(h.Community.ID) != wanted })
	}
	if len(switches) == 0 {
		return fault.New(fault.NotFound, "You have no entry in this community.")
	}
	step := hiding.Step{By: hidden.BySelf, Hidden: hide, Users: []id.User{session.User.ID}}
	for _, in := range switches {
		if _, err := s.deps.Hiding.Set(ctx, in.Community.ID, step); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	done := "shown"
	if hide {
		done = "hidden"
	}
	c.Redirect(http.StatusSeeOther, "/profile?done="+done+"#boards")
	return nil
}
