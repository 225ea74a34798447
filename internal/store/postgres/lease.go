package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/usecase/lease"
)

// leaseName is the lease of the snapshot writer.
const leaseName = "snapshot"

// AcquireLease implements lease.Store. A renewal does not wait for batches that are under way; a takeover does. A lease that ends
// in more than twice its time was written before the clock was set back, and is void.
func (a *Archive) AcquireLease(ctx context.Context, holder string, ttl time.Duration) (lease.Lease, error) {
	ctx, cancel := bounded(ctx, "acquire_lease")
	defer cancel()
	held := lease.Lease{Holder: holder}
	err := a.pool.QueryRow(ctx, `
		UPDATE leases SET expires_ms = `+nowMS+` + $3 WHERE name = $1 AND holder = $2 RETURNING fence`,
		leaseName, holder, ttl.Milliseconds()).Scan(&held.Fence)
	if errors.Is(err, pgx.ErrNoRows) {
		err = a.pool.QueryRow(ctx, `
			INSERT INTO leases AS l (name, holder, fence, expires_ms) VALUES ($1, $2, 1, `+nowMS+` + $3)
			ON CONFLICT (name) DO UPDATE SET
				holder = $2, expires_ms = `+nowMS+` + $3,
				fence = CASE WHEN l.holder = $2 THEN l.fence ELSE l.fence + 1 END
			WHERE l.holder = $2 OR l.expires_ms <= `+nowMS+` OR l.expires_ms > `+nowMS+` + 2 * $3
			RETURNING fence`,
			leaseName, holder, ttl.Milliseconds()).Scan(&held.Fence)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = lease.ErrLost
	}
	if err != nil {
		return lease.Lease{}, wrap("acquire the snapshot lease", err)
	}
	return held, nil
}

// ReleaseLease implements lease.Store.
func (a *Archive) ReleaseLease(ctx context.Context, l lease.Lease) error {
	ctx, cancel := bounded(ctx, "release_lease")
	defer cancel()
	_, err := a.pool.Exec(ctx, `
		UPDATE leases SET holder = '', expires_ms = 0 WHERE name = $1 AND holder = $2 AND fence = $3`,
		leaseName, l.Holder, l.Fence)
	return wrap("release the snapshot lease", err)
}

// checkLease keeps a takeover out until the transaction ends.
func checkLease(ctx context.Context, tx pgx.Tx, l lease.Lease) error {
	var held int
	err := tx.QueryRow(ctx, `
		SELECT 1 FROM leases WHERE name = $1 AND holder = $2 AND fence = $3 FOR KEY SHARE`,
		leaseName, l.Holder, l.Fence).Scan(&held)
	if errors.Is(err, pgx.ErrNoRows) {
		return lease.ErrLost
	}
	return err
}
