package sqlarchive

import (
	"fmt"
	"time"
)

// millis reads a column of milliseconds since 1970 into a time in UTC; null is the zero time.
type millis struct{ at *time.Time }

// Scan implements sql.Scanner.
func (m millis) Scan(value any) error {
	switch ms := value.(type) {
	case nil:
		*m.at = time.Time{}
	case int64:
		*m.at = time.UnixMilli(ms).UTC()
	default:
		return fmt.Errorf("a time is a %T", value)
	}
	return nil
}

// optional reads such a column into a pointer; null is nil.
type optional struct{ at **time.Time }

// Scan implements sql.Scanner.
func (o optional) Scan(value any) error {
	var at time.Time
	err := millis{&at}.Scan(value)
	if *o.at = nil; value != nil {
		*o.at = &at
	}
	return err
}

// inMillis is t as such a column; null for the zero time.
func inMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// optionalMillis is t as such a column; null for nil.
func optionalMillis(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.UnixMilli())
}
