package sqlarchive

import (
	"context"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/lease"
)

const readAnnouncements = `
	SELECT a.guild_id, a.id, a.kind, g.incarnation, a.version, a.cursor_ms, a.cursor_n, a.secret, a.off, a.sent_ms, a.last_error, a.message, a.shown
	FROM announcements a JOIN guilds g ON g.id = a.guild_id `

func scanAnnouncement(row Row) (s announce.State, err error) {
	err = row.Scan(&s.Guild, &s.ID, &s.Kind, &s.Incarnation, &s.Version, &s.Cursor.Millis, &s.Cursor.Number, &s.Secret, &s.Off, millis{&s.LastSent},
		&s.LastError, &s.Message, &s.Shown)
	return s, err
}

// AnnouncementStates implements announce.Archive.
func (c *Catalog) AnnouncementStates(ctx context.Context, guilds []id.Guild) ([]announce.State, error) {
	return list(ctx, c, "read_announcements", scanAnnouncement, readAnnouncements+
		`WHERE a.guild_id IN (SELECT value ->> 0 FROM jsonb_each($1)) ORDER BY a.guild_id, a.id`, jsonList(guilds))
}

// AnnouncementsOn implements announce.Archive.
func (c *Catalog) AnnouncementsOn(ctx context.Context, after announce.Key, limit int) ([]announce.State, error) {
	return list(ctx, c, "list_announcements", scanAnnouncement, readAnnouncements+`
		WHERE a.off = '' AND a.kind <> $4 AND (a.guild_id, a.id) > ($1, $2) ORDER BY a.guild_id, a.id LIMIT $3`,
		string(after.Guild), after.ID, limit, string(announcement.Bot))
}

// NoteAnnouncement implements announce.Archive.
func (c *Catalog) NoteAnnouncement(ctx context.Context, l lease.Lease, s announce.State) error {
	return c.changeAnnouncement(ctx, "note_announcement", &l, `
		UPDATE announcements SET cursor_ms = $4, cursor_n = $5, off = $6, sent_ms = $7, last_error = $8, message = $9, shown = $10
		WHERE guild_id = $1 AND id = $2 AND version = $3 AND off = ''`, string(s.Guild), s.ID, s.Version,
		int64(s.Cursor.Millis), int64(s.Cursor.Number), s.Off, inMillis(s.LastSent), s.LastError, s.Message, s.Shown)
}

// NoteBoardMessage implements announce.Archive.
func (c *Catalog) NoteBoardMessage(ctx context.Context, s announce.State) error {
	return c.changeAnnouncement(ctx, "note_board_message", nil,
		`UPDATE announcements SET message = $4, shown = $5 WHERE guild_id = $1 AND id = $2 AND version = $3`, string(s.Guild), s.ID, s.Version, s.Message, s.Shown)
}

// SetAnnouncementSecret implements announce.Archive.
func (c *Catalog) SetAnnouncementSecret(ctx context.Context, k announce.Key, secret []byte) error {
	return c.changeAnnouncement(ctx, "set_announcement_secret", nil,
		`UPDATE announcements SET secret = $3 WHERE guild_id = $1 AND id = $2`, string(k.Guild), k.ID, secret)
}

// SwitchAnnouncementOn implements announce.Archive.
func (c *Catalog) SwitchAnnouncementOn(ctx context.Context, k announce.Key) error {
	return c.changeAnnouncement(ctx, "switch_announcement_on", nil, `
		UPDATE announcements SET off = '', version = version + CASE WHEN off = '' THEN 0 ELSE 1 END,
			cursor_ms = CASE WHEN off = '' THEN cursor_ms ELSE now_ms() - 1 END
		WHERE guild_id = $1 AND id = $2`, string(k.Guild), k.ID)
}

// changeAnnouncement runs a statement that changes one announcement, under the lease if there is one.
func (c *Catalog) changeAnnouncement(ctx context.Context, operation string, l *lease.Lease, statement string, args ...any) error {
	return c.inTx(ctx, operation, func(t *tx) {
		if l != nil {
			t.holds(*l)
		}
		if t.exec(statement, args...) == 0 {
			t.fail(announce.ErrUnknown)
		}
	})
}

// putAnnouncements stores a state for each announcement of settings that are being written. A new one, or one with another URL or kind, begins with
// the next event.
func (t *tx) putAnnouncements(before *guild.Settings, s guild.Settings) {
	if len(s.Announcements) == 0 && (before == nil || len(before.Announcements) == 0) {
		return
	}
	ids := []string{}
	for _, a := range s.Announcements {
		ids = append(ids, a.ID)
		if old := before.Announcement(a.ID); old != nil && old.URL == a.URL && old.Kind == a.Kind {
			continue
		}
		t.exec(`
			INSERT INTO announcements (guild_id, id, kind, version, cursor_ms, secret) VALUES ($1, $2, $3, 1, now_ms() - 1, $4)
			ON CONFLICT (guild_id, id) DO UPDATE SET kind = excluded.kind, version = announcements.version + 1, cursor_ms = excluded.cursor_ms, cursor_n = 0,
				off = '', last_error = '', message = '', shown = ''`,
			string(s.ID), a.ID, string(a.Kind), announce.NewSigningSecret())
	}
	t.exec(`DELETE FROM announcements WHERE guild_id = $1 AND id NOT IN (SELECT value ->> 0 FROM jsonb_each($2))`, string(s.ID), jsonList(ids))
}
