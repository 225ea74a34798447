package snapshot

import "context"

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows

// Note notes what was used since the last call.
func (u *Uses) Note(ctx context.Context) error { return u.noteFresh(ctx) }
