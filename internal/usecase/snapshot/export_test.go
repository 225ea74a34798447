package snapshot

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows
