package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/lease"
)

const leaseName = sqlarchive.LeaseName

// AcquireLease implements lease.Store. Embedded mode has one process only, but a writer of the same process that was left
// behind is kept out in the same way.
func (a *Archive) AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (lease.Lease, error) {
	held := lease.Lease{Holder: holder}
	err := a.inTx(ctx, "acquire the snapshot lease", func(tx *sql.Tx) error {
		now := nowMS()
		err := tx.QueryRowContext(ctx, `
			INSERT INTO leases AS l (name, holder, fence, expires_ms, last) VALUES (?1, ?2, 1, ?3, ?6)
			ON CONFLICT (name) DO UPDATE SET
				holder = ?2, expires_ms = ?3, last = ?6, fence = CASE WHEN l.holder = ?2 THEN l.fence ELSE l.fence + 1 END
			WHERE l.holder = ?2 OR l.expires_ms <= ?4 OR l.expires_ms > ?5
			RETURNING fence`,
			leaseName, holder, now+ttl.Milliseconds(), now, now+lease.Void(ttl).Milliseconds(), last).Scan(&held.Fence)
		if errors.Is(err, sql.ErrNoRows) {
			return lease.ErrLost
		}
		return err
	})
	if err != nil {
		return lease.Lease{}, err
	}
	return held, nil
}

// LeaseState implements lease.Store.
func (a *Archive) LeaseState(ctx context.Context) (s lease.State, err error) {
	err = a.writer.QueryRowContext(ctx, `SELECT holder, fence, expires_ms, last FROM leases WHERE name = ?`, leaseName).Scan(&s.Holder, &s.Fence, &s.Ends, &s.Last)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return s, wrap("read the snapshot lease", err)
}

// ReleaseLease implements lease.Store.
func (a *Archive) ReleaseLease(ctx context.Context, l lease.Lease) error {
	_, err := a.writer.ExecContext(ctx, `
		UPDATE leases SET holder = '', expires_ms = 0, last = 0 WHERE name = ? AND holder = ? AND fence = ?`,
		leaseName, l.Holder, l.Fence)
	return wrap("release the snapshot lease", err)
}
