package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
)

// auditRecord is a record of the audit log in the service's answer.
type auditRecord struct {
	At    time.Time `json:"at"`
	Actor struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"actor"`
	Action string         `json:"action"`
	UserID string         `json:"userId"` // empty for null
	Before jsontext.Value `json:"before"`
	After  jsontext.Value `json:"after"`
	Count  *int           `json:"count"`
	Reason string         `json:"reason"` // empty for null
}

func (p *program) auditCommand() *cobra.Command {
	c := &client{program: p}
	var user, actor, since string
	audit := p.forGuild("audit", "Show who changed what in a guild, newest first", func(ctx context.Context, guild string, _ []string) error {
		query := url.Values{"limit": {"100"}}
		if user != "" {
			if !id.Valid(user) {
				return errUserID
			}
			query.Set("userId", user)
		}
		if actor != "" {
			query.Set("actorId", actor)
		}
		if since != "" {
			ago, err := lasting("--since", since)
			if err != nil {
				return err
			}
			query.Set("since", at(time.Now().Add(-ago)))
		}
		return list(ctx, c, listing[auditRecord]{
			path: guildPath(guild) + "/audit", query: query, next: "before", name: "records", none: "There is no record.",
			header: []string{"AT", "ACTOR", "ACTION", "USER", "REASON", "CHANGE"}, row: auditRecord.row,
		})
	})
	c.flags(audit)
	_ = audit.PersistentFlags().MarkHidden("reason") // it changes nothing
	audit.Flags().StringVar(&user, "user", "", "only records about the user with this `ID`")
	audit.Flags().StringVar(&actor, "actor", "", "only changes by the key, the user or the operator with this `ID`")
	audit.Flags().StringVar(&since, "since", "", "only records of the last hours or days, such as 24h or 30d")
	return audit
}

func (r auditRecord) row() []string {
	by := r.Actor.Kind + " " + r.Actor.ID
	if r.Actor.Kind == "operator" {
		by = r.Actor.ID
	} else if r.Actor.Name != "" {
		by += " (" + r.Actor.Name + ")"
	}
	return []string{at(r.At), by, r.Action, r.UserID, shortened(r.Reason), r.change()}
}

// maxShown is how many bytes of a value or a reason are shown: settings can be long.
const maxShown = 200

// change describes a change by the number of members, by the settings that differ, or by the values before and after.
func (r auditRecord) change() string {
	if r.Count != nil {
		return count(*r.Count, "member")
	}
	if r.Action == "settings" && string(r.Before) == "null" {
		return "created"
	}
	if r.Before.Kind() == '{' {
		var changes []string
		for _, d := range (&properties.Known{}).Differences(r.Before, r.After) {
			changes = append(changes, fmt.Sprintf("%s: %s -> %s", d.Label, shortened(cmp.Or(d.Before, "none")), shortened(cmp.Or(d.After, "none"))))
		}
		return strings.Join(changes, ", ")
	}
	before, after := shownValue(r.Before), shownValue(r.After)
	if before == "" && after == "" {
		return ""
	}
	return before + " -> " + after
}

// shownValue returns a value as one line of JSON, or "" for null.
func shownValue(value jsontext.Value) string {
	if string(value) == "null" {
		return ""
	}
	return shortened(string(value))
}

func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "... (" + strconv.Itoa(len(text)) + " bytes, see --json)"
}
