package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/signin"
)

// hidingSwitch is what somebody sees at their profile of how they are hidden in a community.
type hidingSwitch struct {
	Community         community
	ByManager, BySelf bool
}

// seesHidden reports whether a signed-in user may see the page of a hidden member: managers and the member may.
func seesHidden(who *signin.Session, g *guild.Guild, user id.User) bool {
	return who.Manages(g) || who != nil && who.User.ID == user
}

// markHidden lists the communities in which somebody has an entry or a flag.
func (s *Site) markHidden(ctx context.Context, session *signin.Session, content *profilePage) error {
	flags, err := s.deps.Hiding.Of(ctx, session.User.ID)
	if err != nil {
		return err
	}
	var all []id.Guild
	for _, m := range content.Data.Stored.Guilds {
		all = append(all, m.Guild.ID)
	}
	for g := range flags {
		all = append(all, g)
	}
	slices.Sort(all)
	for _, gid := range slices.Compact(all) {
		g, err := s.deps.Guilds.ByID(ctx, gid)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		content.Hiding = append(content.Hiding, hidingSwitch{communityOf(g), flags[gid]&hidden.ByManager != 0, flags[gid]&hidden.BySelf != 0})
	}
	return nil
}

// hideMe sets or lifts the own flag of who is signed in, in one community or in all in which they have an entry or a flag.
func (s *Site) hideMe(c *gin.Context, session *signin.Session, sent url.Values) error {
	content := profilePage{}
	var err error
	if content.Data.Stored, err = s.deps.Users.Known(c.Request.Context(), session.User.ID); err == nil {
		err = s.markHidden(c.Request.Context(), session, &content)
	}
	if err != nil {
		return err
	}
	hide, wanted := sent.Get("hidden") == "yes", sent.Get("guild")
	for _, in := range content.Hiding {
		if wanted != "" && string(in.Community.ID) != wanted {
			continue
		}
		if _, err := s.deps.Hiding.Set(c.Request.Context(), in.Community.ID, hiding.Step{By: hidden.BySelf, Hidden: hide, Users: []id.User{session.User.ID}}); err != nil {
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
