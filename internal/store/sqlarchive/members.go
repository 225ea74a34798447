package sqlarchive

import (
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/usecase/snapshot"
)

// MemberColumns are what scanMember reads.
const MemberColumns = `user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour, NOT present`

// scanMember reads MemberColumns, and columns after them.
func scanMember(row Row, after ...any) (r snapshot.Row, err error) {
	var updated, cooldown *int64
	u := &r.User
	err = row.Scan(append([]any{
		&r.UserID, &r.XP, &r.MessageCount, &updated, &cooldown,
		&u.Avatar, &u.Discriminator, &u.Username, &u.GlobalName, &u.AccentColour, &r.Absent,
	}, after...)...)
	r.LastUpdated, r.CooldownUntil = fromMillis(updated), fromMillis(cooldown)
	return r, err
}

// ScanState reads epoch, archived and verified. It returns snapshot.ErrStale when there is no row.
func ScanState(row Row) (s snapshot.State, err error) {
	err = row.Scan(&s.Epoch, &s.Archived, &s.Verified)
	if errors.Is(err, sql.ErrNoRows) {
		return snapshot.State{}, snapshot.ErrStale
	}
	return s, err
}

// Millis is t as the tables hold it, and nil for the zero time.
func Millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// fromMillis is the time that Millis made ms of.
func fromMillis(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}
