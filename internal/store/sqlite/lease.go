package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/usecase/lease"
)

// leaseName is the lease of the snapshot writer.
const leaseName = "snapshot"

// AcquireLease implements lease.Store. Embedded mode has one process only, but a writer of the same process that was left
// behind is kept out in the same way. A lease that ends in more than twice its time was written before the clock was set back,
// and is void.
func (a *Archive) AcquireLease(ctx context.Context, holder string, ttl time.Duration) (lease.Lease, error) {
	held := lease.Lease{Holder: holder}
	err := a.inTx(ctx, "acquire the snapshot lease", func(tx *sql.Tx) error {
		now := nowMS()
		err := tx.QueryRowContext(ctx, `
			INSERT INTO leases AS l (name, holder, fence, expires_ms) VALUES (?1, ?2, 1, ?3)
			ON CONFLICT (name) DO UPDATE SET
				holder = ?2, expires_ms = ?3, fence = CASE WHEN l.holder = ?2 THEN l.fence ELSE l.fence + 1 END
			WHERE l.holder = ?2 OR l.expires_ms <= ?4 OR l.expires_ms > ?5
			RETURNING fence`,
			leaseName, holder, now+ttl.Milliseconds(), now, now+2*ttl.Milliseconds()).Scan(&held.Fence)
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

// ReleaseLease implements lease.Store.
func (a *Archive) ReleaseLease(ctx context.Context, l lease.Lease) error {
	_, err := a.writer.ExecContext(ctx, `
		UPDATE leases SET holder = '', expires_ms = 0 WHERE name = ? AND holder = ? AND fence = ?`,
		leaseName, l.Holder, l.Fence)
	return wrap("release the snapshot lease", err)
}

func checkLease(ctx context.Context, tx *sql.Tx, l lease.Lease) error {
	var held int
	err := tx.QueryRowContext(ctx, `SELECT 1 FROM leases WHERE name = ? AND holder = ? AND fence = ?`,
		leaseName, l.Holder, l.Fence).Scan(&held)
	if errors.Is(err, sql.ErrNoRows) {
		return lease.ErrLost
	}
	return err
}
