package sqlarchive

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

// mentionsAtOnce bounds what is in memory of records of the audit log that name a user in their text.
const mentionsAtOnce = 500

// mention is a record of the audit log by its texts.
type mention struct {
	log, millis, number   int64
	before, after, reason string
}

// eraseMentions puts another name in place of a user in the texts of the next records after m, which becomes the last of them.
func (c *change) eraseMentions(ctx context.Context, user id.User, as string, m *mention) (more bool, err error) {
	rows, err := c.QueryContext(ctx, `
		SELECT log, at_ms, number, before, after, reason FROM audit
		WHERE (reason <> '' OR action IN ('settings', 'directory'))
			AND (before LIKE '%' || $1 || '%' OR after LIKE '%' || $1 || '%' OR reason LIKE '%' || $1 || '%')
			AND (log + 0, at_ms, number) > ($2, $3, $4) ORDER BY log + 0, at_ms, number LIMIT $5`,
		string(user), m.log, m.millis, m.number, mentionsAtOnce)
	found, err := Collect(rows, err, func(row Row) (m mention, err error) {
		err = row.Scan(&m.log, &m.millis, &m.number, &m.before, &m.after, &m.reason)
		return m, err
	})
	name := func(in id.User) string {
		if in == user {
			return as
		}
		return string(in)
	}
	for _, *m = range found {
		if err == nil {
			_, err = c.ExecContext(ctx, `UPDATE audit SET before = $4, after = $5, reason = $6 WHERE log = $1 AND at_ms = $2 AND number = $3`,
				m.log, m.millis, m.number, audit.RenameValue(m.before, name), audit.RenameValue(m.after, name), audit.Rename(m.reason, name))
		}
	}
	return len(found) == mentionsAtOnce, err
}
