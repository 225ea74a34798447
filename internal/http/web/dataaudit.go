package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

// auditPart is how many records of the audit log the page of data shows at once.
const auditPart = 20

// auditDays are the choices of how far back the log is shown, in days.
var auditDays = []string{"1", "7", "30"}

// auditLog is a part of a guild's audit log, and the filters that chose it.
type auditLog struct {
	Rows                 []auditRow
	Member, Actor, Since string            // as in the address
	Errors               map[string]string // by field
	Next                 string            // the address of the next part; empty at the end
	Later                bool              // it is not the first part
}

// auditRow is a record in words.
type auditRow struct {
	audit.Record
	Actor         string
	Did           string // what was done, up to the member
	Member        bool   // UserID is a member's, who may have a page
	Before, After string // XP, or the fields that changed; empty for none
	Fields        bool   // they are fields
}

// auditOf reads what the address asks for of a guild's log. A wrong filter is an error beside its field, and nothing is read.
func (s *Site) auditOf(c *gin.Context, g *guild.Guild) (*auditLog, error) {
	sent := c.Request.URL.Query()
	log := &auditLog{
		Member: displayname.Cut(strings.TrimSpace(sent.Get("member")), maxShown), Actor: displayname.Cut(strings.TrimSpace(sent.Get("actor")), maxShown),
		Since: sent.Get("since"), Errors: map[string]string{}, Later: sent.Has("before"),
	}
	q := audit.Query{User: id.User(log.Member), Actor: log.Actor, Limit: auditPart}
	if log.Member != "" && !id.Valid(log.Member) {
		log.Errors["member"] = "A member's ID has 17 to 19 digits."
	}
	switch {
	case slices.Contains(auditDays, log.Since):
		days, _ := strconv.Atoi(log.Since)
		q.Since = s.deps.Now().AddDate(0, 0, -days)
	case log.Since != "":
		log.Since, log.Errors["since"] = "", "Choose one of the times in the list."
	}
	if log.Later {
		var err error
		if q.Before, err = audit.ParseID(sent.Get("before")); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "This link to older records is damaged. Open the audit log again.")
		}
	}
	if len(log.Errors) > 0 {
		return log, nil
	}
	page, err := s.deps.Audit.Read(c.Request.Context(), g.ID, q)
	if err != nil {
		return nil, err
	}
	for i := range page.Records {
		log.Rows = append(log.Rows, newAuditRow(&page.Records[i]))
	}
	if page.Next != nil {
		log.Next = dataAddress(g.ID) + "?" + url.Values{
			"member": {log.Member}, "actor": {log.Actor}, "since": {log.Since}, "before": {page.Next.String()},
		}.Encode() + "#audit"
	}
	return log, nil
}

// status is what the page answers with.
func (l *auditLog) status() int {
	if len(l.Errors) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// Days are the choices of auditLog.Since.
func (l *auditLog) Days() []string { return auditDays }

func newAuditRow(r *audit.Record) auditRow {
	row := auditRow{Record: *r, Actor: r.By.Actor.Name, Did: deeds[r.Action], Member: id.Valid(string(r.UserID)), Before: string(r.Before), After: string(r.After)}
	if r.By.Actor.Kind == audit.Key {
		row.Actor = "API key " + row.Actor
	}
	if r.Count != nil {
		row.Did += " " + counted(*r.Count, "member")
	}
	row.Fields = r.Action == audit.Settings || r.Action == audit.Directory
	if !row.Fields && row.Before+row.After != "" {
		row.Before, row.After = xpOf(row.Before), xpOf(row.After)
	}
	return row
}

// xpOf writes XP as people read it.
func xpOf(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "no XP"
	}
	return count(n) + " XP"
}

// deeds say what an action was. The member or the number of members follows.
var deeds = map[audit.Action]string{
	audit.Created: "added", audit.Set: "set the XP of", audit.Incremented: "gave XP to", audit.Decremented: "took XP from", audit.Deleted: "removed",
	audit.Bulk: "changed", audit.Presence: "hid or showed", audit.Settings: "changed the settings", audit.Directory: "updated names of roles and channels",
	audit.Granted: "gave access to an API key of", audit.Ungranted: "took access from an API key of",
	audit.Imported: "imported", audit.Checkpoint: "created a checkpoint of", audit.Restored: "restored", audit.Reset: "reset the leaderboard and left",
}

// When is when the change was made.
func (r auditRow) When() time.Time { return r.At() }
