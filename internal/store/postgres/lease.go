package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/usecase/snapshot"
)

// leaseName is the lease of the snapshot writer.
const leaseName = "snapshot"

// AcquireLease implements snapshot.Archive. A renewal does not wait for batches that are under way; a takeover does.
func (a *Archive) AcquireLease(ctx context.Context, holder string, ttl time.Duration) (snapshot.Lease, error) {
	ctx, cancel := bounded(ctx, "acquire_lease")
	defer cancel()
	lease := snapshot.Lease{Holder: holder}
	err := a.pool.QueryRow(ctx, `
		UPDATE leases SET expires_ms = `+nowMS+` + $3 WHERE name = $1 AND holder = $2 RETURNING fence`,
		leaseName, holder, ttl.Milliseconds()).Scan(&lease.Fence)
	if errors.Is(err, pgx.ErrNoRows) {
		err = a.pool.QueryRow(ctx, `
			INSERT INTO leases AS l (name, holder, fence, expires_ms) VALUES ($1, $2, 1, `+nowMS+` + $3)
			ON CONFLICT (name) DO UPDATE SET
				holder = $2, expires_ms = `+nowMS+` + $3,
				fence = CASE WHEN l.holder = $2 THEN l.fence ELSE l.fence + 1 END
			WHERE l.holder = $2 OR l.expires_ms <= `+nowMS+`
			RETURNING fence`,
			leaseName, holder, ttl.Milliseconds()).Scan(&lease.Fence)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = snapshot.ErrLeaseLost
	}
	if err != nil {
		return snapshot.Lease{}, wrap("acquire the snapshot lease", err)
	}
	return lease, nil
}

// ReleaseLease implements snapshot.Archive.
func (a *Archive) ReleaseLease(ctx context.Context, l snapshot.Lease) error {
	ctx, cancel := bounded(ctx, "release_lease")
	defer cancel()
	_, err := a.pool.Exec(ctx, `
		UPDATE leases SET holder = '', expires_ms = 0 WHERE name = $1 AND holder = $2 AND fence = $3`,
		leaseName, l.Holder, l.Fence)
	return wrap("release the snapshot lease", err)
}

// checkLease keeps a takeover out until the transaction ends.
func checkLease(ctx context.Context, tx pgx.Tx, l snapshot.Lease) error {
	var held int
	err := tx.QueryRow(ctx, `
		SELECT 1 FROM leases WHERE name = $1 AND holder = $2 AND fence = $3 FOR KEY SHARE`,
		leaseName, l.Holder, l.Fence).Scan(&held)
	if errors.Is(err, pgx.ErrNoRows) {
		return snapshot.ErrLeaseLost
	}
	return err
}
