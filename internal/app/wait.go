package app

import "context"

// Wait returns when ctx ends (nil) or when a listener of a started service failed by itself (its error). The service goes
// on as far as it can; Stop it either way.
func (a *App) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.failed:
		return err
	}
}
