package cached

import "golang.org/x/sync/semaphore"

// Len returns the number of values and absences held.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Len() + c.missing.Len()
}

// Bound bounds the callers that wait for loads.
func (c *Cache[K, V]) Bound(n int64) { c.waiting = semaphore.NewWeighted(n) }

var ErrCrowded = errCrowded
