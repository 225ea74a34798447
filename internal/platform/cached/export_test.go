package cached

// Len is how many values and absences are held.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Len() + c.missing.Len()
}

// Bound bounds the callers that wait for loads, and the loads under way.
func (c *Cache[K, V]) Bound(n int) { c.most = n }

var ErrCrowded = errCrowded
