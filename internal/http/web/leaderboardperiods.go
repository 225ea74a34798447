package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/http/card"
	"levelboard/internal/usecase/periods"
)

// pastPage is the content of the page with a guild's periods and their winners.
type pastPage struct {
	Guild   *guild.Guild
	Base    string
	Tabs    []periodTab
	Running []listedPeriod
	Past    []listedPeriod
	Kind    period.Kind // the kind that is listed; empty for all
	Kinds   []period.Kind
	Before  int64 // number of the previous page, or 0
	After   int64 // number of the next page, or 0
	Now     time.Time
}

// listedPeriod is a period with its first members.
type listedPeriod struct {
	periods.Listed
	Base    string
	Now     time.Time
	Title   string
	Winners []leaderboardRow
}

// kindName returns the plural name of a kind of periods.
func kindName(kind period.Kind) string {
	return map[period.Kind]string{period.Daily: "Days", period.Weekly: "Weeks", period.Monthly: "Months", period.Seasonal: "Seasons"}[kind]
}

// pastPeriods lists the running and the closed periods, the newest first.
func (s *Site) pastPeriods(c *gin.Context, g *guild.Guild) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	kind := period.Kind(c.Query("kind"))
	if kind != "" && !slices.Contains(period.Kinds, kind) {
		return fault.New(fault.Invalid, "The kind must be day, week, month or season.")
	}
	found, err := s.deps.Periods.Periods(c.Request.Context(), g, kind, number)
	if err != nil {
		return err
	}
	content := pastPage{Kind: kind, Kinds: period.Kinds, Guild: g, Base: boardPath(g), Tabs: tabsOf(g, s.deps.Now(), nil), Before: number - 1, Now: s.deps.Now()}
	for i := range content.Tabs {
		content.Tabs[i].Here = i == len(content.Tabs)-1
	}
	for _, p := range found {
		listed := listedPeriod{Listed: p, Base: content.Base, Now: content.Now, Title: periodName(p.Period)}
		view := boardView{period: &p.Period, settings: &g.Settings}
		for _, w := range p.Winners {
			listed.Winners = append(listed.Winners, view.row(g, w))
		}
		if p.Over {
			content.Past = append(content.Past, listed)
		} else {
			content.Running = append(content.Running, listed)
		}
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
