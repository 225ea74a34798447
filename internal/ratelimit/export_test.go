package ratelimit

import "time"

// SetClock gives the limiter another clock than the machine's.
func (l *Limiter) SetClock(now func() time.Time) { l.now = now }
