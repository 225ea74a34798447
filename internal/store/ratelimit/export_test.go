package ratelimit

// Waiting returns the number of requests that wait for the next call of Redis.
func (l *Limiter) Waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, batch := range l.waiting {
		n += len(batch)
	}
	return n
}

// Asking returns the number of budgets with a running call of Redis.
func (l *Limiter) Asking() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}
