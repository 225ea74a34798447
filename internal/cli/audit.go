package cli

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"levelboard/internal/domain/id"
)

// auditRecord is a record of the audit log as the service answers it.
type auditRecord struct {
	At    time.Time `json:"at"`
	Actor struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"actor"`
	Action string         `json:"action"`
	UserID *string        `json:"userId"`
	Before jsontext.Value `json:"before"`
	After  jsontext.Value `json:"after"`
	Count  *int           `json:"count"`
	Reason *string        `json:"reason"`
}

func (p *program) auditCommand() *cobra.Command {
	var flags clientFlags
	var guild, user, actor, since string
	audit := &cobra.Command{
		Use: "audit --guild ID", Short: "Show who changed what in a guild, newest first", Args: takes(),
		RunE: p.action(func(ctx context.Context, _ []string) error {
			address, err := guildPath(guild)
			if err != nil {
				return err
			}
			query := url.Values{"limit": {"100"}}
			if user != "" {
				if !id.Valid(user) {
					return usage("a user's id %w", id.ErrSnowflake)
				}
				query.Set("userId", user)
			}
			if actor != "" {
				query.Set("actorId", actor)
			}
			if since != "" {
				ago, err := validity(since)
				if err != nil {
					return usage("--since takes hours or days, such as 24h or 30d")
				}
				query.Set("since", time.Now().Add(-ago).UTC().Format(time.RFC3339))
			}
			return printList(ctx, p, &flags, listing[auditRecord]{
				path: address + "/audit?" + query.Encode(), next: "before", name: "records", none: "There is no record.",
				header: []string{"AT", "ACTOR", "ACTION", "USER", "CHANGE", "REASON"}, row: auditRecord.row,
			})
		}),
	}
	flags.register(audit)
	_ = audit.PersistentFlags().MarkHidden("reason") // it changes nothing
	guildFlag(audit, &guild)
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
	user, reason := "", ""
	if r.UserID != nil {
		user = *r.UserID
	}
	if r.Reason != nil {
		reason = shortened(*r.Reason)
	}
	return []string{r.At.UTC().Format(time.RFC3339), printable(by), printable(r.Action), printable(user), printable(r.change()), printable(reason)}
}

// maxShown is how much of a value or a reason is shown, in bytes: settings can be long.
const maxShown = 200

// change describes a change: the values before and after, or the number of members.
func (r auditRecord) change() string {
	if r.Count != nil {
		return count(*r.Count, "member")
	}
	before, after := shownValue(r.Before), shownValue(r.After)
	if before == "" && after == "" {
		return ""
	}
	return before + " -> " + after
}

// shownValue is a value as one line of JSON; empty for null.
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
