package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/usecase/lease"
)

// leaseName is the lease of the snapshot writer, which closes periods too.
const leaseName = "snapshot"

// AcquireLease implements lease.Store. A renewal does not wait for batches that are under way; a takeover, which changes the fence, does. Embedded mode
// has one process only, but a writer that was left behind in it is kept out in the same way.
func (c *Catalog) AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (lease.Lease, error) {
	const operation = "acquire_lease"
	ctx, cancel := c.Bound(ctx, operation)
	defer cancel()
	held := lease.Lease{Holder: holder}
	err := c.Writer.QueryRowContext(ctx, `
		UPDATE leases SET expires_ms = now_ms() + $3, last = $4 WHERE name = $1 AND holder = $2 RETURNING fence`,
		leaseName, holder, ttl.Milliseconds(), last).Scan(&held.Fence)
	if errors.Is(err, sql.ErrNoRows) {
		err = c.Writer.QueryRowContext(ctx, `
			INSERT INTO leases AS l (name, holder, fence, expires_ms, last) VALUES ($1, $2, 1, now_ms() + $3, $4)
			ON CONFLICT (name) DO UPDATE SET
				holder = excluded.holder, expires_ms = excluded.expires_ms, last = excluded.last,
				fence = CASE WHEN l.holder = excluded.holder THEN l.fence ELSE l.fence + 1 END
			WHERE l.holder = excluded.holder OR l.expires_ms <= now_ms() OR l.expires_ms > now_ms() + $5
			RETURNING fence`,
			leaseName, holder, ttl.Milliseconds(), last, lease.Void(ttl).Milliseconds()).Scan(&held.Fence)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = lease.ErrLost
	}
	if err != nil {
		return lease.Lease{}, Wrap(c.Name, operation, err)
	}
	return held, nil
}

// LeaseState implements lease.Store.
func (c *Catalog) LeaseState(ctx context.Context) (lease.State, error) {
	return one(ctx, c, "lease_state", orMissing(nil, columns(func(s *lease.State) []any { return []any{&s.Holder, &s.Fence, &s.Ends, &s.Last} })),
		`SELECT holder, fence, expires_ms, last FROM leases WHERE name = $1`, leaseName)
}

// ReleaseLease implements lease.Store.
func (c *Catalog) ReleaseLease(ctx context.Context, l lease.Lease) error {
	return c.run(ctx, "release_lease", `
		UPDATE leases SET holder = '', expires_ms = 0, last = false WHERE name = $1 AND holder = $2 AND fence = $3`, leaseName, l.Holder, l.Fence)
}

// holds keeps a takeover of the lease out until the transaction ends. It fails with lease.ErrLost when the fence differs.
func (t *tx) holds(l lease.Lease) {
	if _, held := readValue[int](t, `SELECT 1 FROM leases WHERE name = $1 AND holder = $2 AND fence = $3 FOR KEY SHARE`, leaseName, l.Holder, l.Fence); !held {
		t.fail(lease.ErrLost)
	}
}
