package web

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

func newAuditRow(r *audit.Record, names map[id.User]string) auditRow {
	row := auditRow{Record: *r, Actor: r.By.Actor.Name, Member: names[r.UserID] != "", Name: names[r.UserID]}
	if i := slices.IndexFunc(deeds, func(d deed) bool { return d.Action == r.Action }); i >= 0 {
		row.Did = deeds[i].did
	}
	if row.Name == "" {
		row.Name = string(r.UserID)
	}
	if r.By.Actor.Kind == audit.Key {
		row.Actor = "API key " + row.Actor
	}
	var hiding struct {
		Hidden bool `json:"hidden"`
	}
	switch {
	case r.Action == audit.Hidden && json.Unmarshal(r.After, &hiding) == nil && !hiding.Hidden:
		row.Did = "showed"
	case r.Before.Kind() == '0' || r.After.Kind() == '0':
		row.Before, row.After = xpOf(r.Before), xpOf(r.After)
	case r.Action == audit.Settings && r.Before == nil:
		row.Did = "set up the community"
	}
	if r.Count != nil && (r.UserID == "" || *r.Count != 1) {
		row.Did += " " + counted(*r.Count, "member")
	}
	return row
}

// xpOf writes XP for people.
func xpOf(value jsontext.Value) string {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return "no XP"
	}
	return count(n) + " XP"
}

// deed puts an action into words: as a choice of the filter, and as the text before the member or the number of members.
type deed struct {
	Action     audit.Action
	Label, did string
}

var deeds = []deed{
	{audit.Set, "XP set", "set the XP of"},
	{audit.Incremented, "XP added", "gave XP to"},
	{audit.Decremented, "XP taken", "took XP from"},
	{audit.Created, "Members added", "added"},
	{audit.Deleted, "Members reset", "reset"},
	{audit.Bulk, "Many members at once", "changed"},
	{audit.Presence, "Left or returned", "marked as left or returned"},
	{audit.Hidden, "Hidden or shown", "hid"},
	{audit.Settings, "Settings", "changed the settings"},
	{audit.Directory, "Roles and channels", "updated names of roles and channels"},
	{audit.Granted, "API key access given", "gave access to an API key of"},
	{audit.Ungranted, "API key access taken", "took access from an API key of"},
	{audit.Imported, "Imports", "imported"},
	{audit.Checkpoint, "Checkpoints", "created a checkpoint of"},
	{audit.Restored, "Restores", "restored"},
	{audit.Reset, "Resets", "reset the leaderboard and left"},
}

// When returns the time of the change.
func (r auditRow) When() time.Time { return r.At() }
