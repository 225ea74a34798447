package web

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/audit"
)

// auditPath is the page where managers see the audit log of their guild.
const auditPath = "/guilds/:guildId/audit"

// auditPart is how many records of the log the page shows at once.
const auditPart = 20

// auditDays are the choices of how many days of the log to show.
var auditDays = []string{"1", "7", "30"}

// auditPage is a part of a guild's audit log, and the filters that chose it.
type auditPage struct {
	Guild   *guild.Guild
	Rows    []auditRow
	Form    *form            // the filters, from the address
	Matches []leaderboardRow // members with the name in the filter, if there are several
	Next    string           // the address of the next part; empty at the end
}

// auditRow is a record of the log in words.
type auditRow struct {
	audit.Record
	Actor         string
	Did           string                  // what was done, without the member
	Member        bool                    // UserID has an entry, and so a page
	Name          string                  // the name of UserID, or the id if the name is not known
	Before, After string                  // XP; empty if there is none
	Changes       []properties.Difference // empty if there are none
}

// auditLog shows a part of the log.
func (s *Site) auditLog(c *gin.Context, g *guild.Guild, sent *form) error {
	page := auditPage{Guild: g, Form: sent}
	q, err := s.auditQuery(c, &page)
	if err == nil && !sent.bad() && len(page.Matches) == 0 {
		err = s.readAudit(c.Request.Context(), &page, q)
	}
	if err != nil {
		return err
	}
	return s.show(c, sent.status(), "audit", "Audit log of "+g.Name, page)
}

// auditQuery reads the filters from the address. An error in one goes beside its field.
func (s *Site) auditQuery(c *gin.Context, page *auditPage) (q audit.Query, err error) {
	f := page.Form
	q = audit.Query{Action: audit.Action(f.Value("action")), Actor: f.Value("actor"), Limit: auditPart}
	switch since := f.Value("since"); {
	case slices.Contains(auditDays, since):
		days, _ := strconv.Atoi(since)
		q.Since = s.deps.Now().AddDate(0, 0, -days)
	case since != "":
		f.refuse("since", "Choose one of the times in the list.")
	}
	if q.Action != "" && !slices.ContainsFunc(deeds, func(d deed) bool { return d.Action == q.Action }) {
		f.refuse("action", "Choose one of the changes in the list.")
	}
	if f.sent.Has("before") {
		if q.Before, err = audit.ParseID(f.Value("before")); err != nil {
			return q, fault.Wrap(err, fault.Invalid, "This link to older records is damaged. Open the audit log again.")
		}
	}
	q.User, err = s.auditMember(c, page)
	return q, err
}

// auditMember finds the member in the filter. An id may belong to somebody who no longer has an entry.
func (s *Site) auditMember(c *gin.Context, page *auditPage) (id.User, error) {
	member := page.Form.Value("member")
	if member == "" || id.Valid(member) {
		return id.User(member), nil
	}
	found, err := s.deps.Finder.Find(c.Request.Context(), edge.Holder(c), page.Guild, strings.TrimPrefix(member, "@"))
	switch {
	case fault.Is(err, fault.Invalid):
		page.Form.refuse("member", fault.From(err).Message)
	case err != nil:
		return "", err
	case len(found.Members) == 0:
		page.Form.refuse("member", "No member on the board has this name. For others use the ID, of 17 to 19 digits.")
	case len(found.Members) == 1:
		return found.Members[0].UserID, nil
	}
	for _, m := range found.Members {
		page.Matches = append(page.Matches, newRow(page.Guild, m))
	}
	return "", nil
}

func (s *Site) readAudit(ctx context.Context, page *auditPage, q audit.Query) error {
	read, err := s.deps.Audit.Read(ctx, page.Guild.ID, q)
	if err != nil {
		return err
	}
	names, err := s.auditNames(ctx, page.Guild, read.Records)
	if err != nil {
		return err
	}
	directory, err := s.deps.Settings.Directory(ctx, page.Guild.ID)
	if err != nil {
		return err
	}
	known := properties.Know(&page.Guild.Settings, directory)
	for i := range read.Records {
		row := newAuditRow(&read.Records[i], names)
		if row.Record.Before != nil && (row.Action == audit.Settings || row.Action == audit.Directory) {
			row.Changes = known.Differences(row.Record.Before, row.Record.After)
		}
		page.Rows = append(page.Rows, row)
	}
	if read.Next != nil {
		page.Next = page.with("before", read.Next.String())
	}
	return nil
}

// auditNames finds the names of the members in records. A user without an entry has none.
func (s *Site) auditNames(ctx context.Context, g *guild.Guild, records []audit.Record) (map[id.User]string, error) {
	var users []id.User
	for i := range records {
		if user := records[i].UserID; id.Valid(string(user)) {
			users = append(users, user)
		}
	}
	names := map[id.User]string{}
	if len(users) == 0 {
		return names, nil
	}
	entries, err := s.deps.Board.Stored(ctx, g, slices.Compact(slices.Sorted(slices.Values(users))))
	for _, e := range entries {
		names[e.UserID], _ = displayName(e.User, string(e.UserID))
	}
	return names, err
}

// with returns the address of the page with another value of a filter, from the newest record on.
func (p auditPage) with(filter, value string) string {
	query := maps.Clone(p.Form.sent)
	query.Del("before")
	query.Set(filter, value)
	return auditAddress(p.Guild.ID) + "?" + query.Encode()
}

// OfMember returns the address of the records about a member.
func (p auditPage) OfMember(user id.User) string { return p.with("member", string(user)) }

// OfActor returns the address of the records by an actor.
func (p auditPage) OfActor(actor string) string { return p.with("actor", actor) }

func auditAddress(g id.Guild) string { return "/guilds/" + string(g) + "/audit" }

// Filtered reports whether the address has a filter.
func (p auditPage) Filtered() bool { return len(p.Form.sent) > 0 }

// Days returns the choices of how far back to show the log.
func (auditPage) Days() []properties.Option {
	list := options("", "Any time")
	for _, days := range auditDays {
		list = append(list, properties.Option{Value: days, Label: "Last " + days + " days"})
	}
	list[1].Label = "Last 24 hours"
	return list
}

// Deeds returns the choices of actions.
func (auditPage) Deeds() []properties.Option {
	list := options("", "All changes")
	for _, d := range deeds {
		list = append(list, properties.Option{Value: string(d.Action), Label: d.Label})
	}
	return list
}

// Brief shortens long lists, as on the settings page.
func (auditPage) Brief(words string) string { return brief(words) }
