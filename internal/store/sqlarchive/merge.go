package sqlarchive

// ReplaceOlder is what a batch of the writer does with a member that is archived already, m.
const ReplaceOlder = `
	epoch = excluded.epoch, rev = excluded.rev, written_ms = excluded.written_ms,
	xp = excluded.xp, message_count = excluded.message_count,
	updated_ms = excluded.updated_ms, cooldown_ms = excluded.cooldown_ms,
	avatar = excluded.avatar, discriminator = excluded.discriminator, username = excluded.username,
	global_name = excluded.global_name, accent_colour = excluded.accent_colour, deleted = excluded.deleted, present = excluded.present
	WHERE (m.epoch, m.rev) < (excluded.epoch, excluded.rev)`

// MergeUser makes the user data and the presence of an archived m and of a salvaged entry, excluded: those that were updated last, but known
// user data rather than none.
const MergeUser = `
	present = CASE WHEN m.deleted OR coalesce(excluded.updated_ms, 0) > coalesce(m.updated_ms, 0) THEN excluded.present ELSE m.present END,
	avatar = ` + ItsUser + `avatar ELSE m.avatar END,
	discriminator = ` + ItsUser + `discriminator ELSE m.discriminator END,
	username = ` + ItsUser + `username ELSE m.username END,
	global_name = ` + ItsUser + `global_name ELSE m.global_name END,
	accent_colour = ` + ItsUser + `accent_colour ELSE m.accent_colour END`

const (
	mKnown        = `(m.discriminator <> '' OR m.username <> '' OR coalesce(m.avatar, m.global_name, m.accent_colour) IS NOT NULL)`
	excludedKnown = `(excluded.discriminator <> '' OR excluded.username <> ''
		OR coalesce(excluded.avatar, excluded.global_name, excluded.accent_colour) IS NOT NULL)`
	// ItsUser begins the value of a column of user data in MergeUser; it ends in "column ELSE m.column END".
	ItsUser = `CASE WHEN ` + excludedKnown + ` AND (NOT ` + mKnown + `
		OR coalesce(excluded.updated_ms, 0) > coalesce(m.updated_ms, 0)) THEN excluded.`
)

// Bury makes a tombstone of a member, with nothing of what it was.
const Bury = `deleted = true, present = true,
	xp = 0, message_count = 0, updated_ms = NULL, cooldown_ms = NULL,
	avatar = NULL, discriminator = '', username = '', global_name = NULL, accent_colour = NULL`
