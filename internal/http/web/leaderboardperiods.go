package web

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/http/card"
	"levelboard/internal/usecase/periods"
)

// pastPage is the content of the page with a guild's periods and their winners.
type pastPage struct {
	Guild  *guild.Guild
	Base   string
	Tabs   []periodTab
	List   []listedPeriod
	Before int64 // number of the page before, or 0
	After  int64 // number of the next page, or 0
	Now    time.Time
}

// listedPeriod is a period with its first members.
type listedPeriod struct {
	periods.Listed
	Title   string
	Winners []leaderboardRow
}

// pastPeriods lists the periods that run and those that have closed, the newest first.
func (s *Site) pastPeriods(c *gin.Context, g *guild.Guild) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	found, err := s.deps.Periods.Periods(c.Request.Context(), g, "", number)
	if err != nil {
		return err
	}
	content := pastPage{Guild: g, Base: boardPath(g), Tabs: tabsOf(g, s.deps.Now(), nil), Before: number - 1, Now: s.deps.Now()}
	for i := range content.Tabs {
		content.Tabs[i].Here = i == len(content.Tabs)-1
	}
	for _, p := range found {
		listed := listedPeriod{Listed: p, Title: periodName(p.Period)}
		view := boardView{period: &p.Period, settings: &g.Settings}
		for _, w := range p.Winners {
			listed.Winners = append(listed.Winners, view.row(g, w))
		}
		content.List = append(content.List, listed)
	}
	if len(found) == periods.PageSize {
		content.After = number + 1
	}
	title := "Winners of " + displayname.Clean(g.Name)
	s.describeIn(c, g, unfurl{
		Description: title + " by day, week, month and season.", Canonical: content.Base + "/periods",
		Image: content.Base + "/preview.png", Width: card.PreviewWidth, Height: card.PreviewHeight,
	})
	return s.show(c, http.StatusOK, "periods", title, content)
}
