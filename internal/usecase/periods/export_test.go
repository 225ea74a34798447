package periods

import "context"

func (c *Closer) Look(ctx context.Context) error { return c.look(ctx) }
