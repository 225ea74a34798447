package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/lease"
)

const leaseName = sqlarchive.LeaseName

// AcquireLease implements lease.Store. A renewal does not wait for batches that are under way; a takeover does.
func (a *Archive) AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (lease.Lease, error) {
	ctx, cancel := bounded(ctx, "acquire_lease")
	defer cancel()
	held := lease.Lease{Holder: holder}
	err := a.pool.QueryRow(ctx, `
		UPDATE leases SET expires_ms = `+nowMS+` + $3, last = $4 WHERE name = $1 AND holder = $2 RETURNING fence`,
		leaseName, holder, ttl.Milliseconds(), last).Scan(&held.Fence)
	if errors.Is(err, pgx.ErrNoRows) {
		err = a.pool.QueryRow(ctx, `
			INSERT INTO leases AS l (name, holder, fence, expires_ms, last) VALUES ($1, $2, 1, `+nowMS+` + $3, $4)
			ON CONFLICT (name) DO UPDATE SET
				holder = $2, expires_ms = `+nowMS+` + $3, last = $4,
				fence = CASE WHEN l.holder = $2 THEN l.fence ELSE l.fence + 1 END
			WHERE l.holder = $2 OR l.expires_ms <= `+nowMS+` OR l.expires_ms > `+nowMS+` + $5
			RETURNING fence`,
			leaseName, holder, ttl.Milliseconds(), last, lease.Void(ttl).Milliseconds()).Scan(&held.Fence)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = lease.ErrLost
	}
	if err != nil {
		return lease.Lease{}, wrap("acquire the snapshot lease", err)
	}
	return held, nil
}

// LeaseState implements lease.Store.
func (a *Archive) LeaseState(ctx context.Context) (s lease.State, err error) {
	ctx, cancel := bounded(ctx, "lease_state")
	defer cancel()
	err = a.pool.QueryRow(ctx, `SELECT holder, fence, expires_ms, last FROM leases WHERE name = $1`, leaseName).Scan(&s.Holder, &s.Fence, &s.Ends, &s.Last)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return s, wrap("read the snapshot lease", err)
}

// ReleaseLease implements lease.Store.
func (a *Archive) ReleaseLease(ctx context.Context, l lease.Lease) error {
	ctx, cancel := bounded(ctx, "release_lease")
	defer cancel()
	_, err := a.pool.Exec(ctx, `
		UPDATE leases SET holder = '', expires_ms = 0, last = false WHERE name = $1 AND holder = $2 AND fence = $3`,
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
