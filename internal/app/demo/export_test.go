package demo

import "context"

const HistoryDays = historyDays

func (a *Activity) Step(ctx context.Context) error { return a.step(ctx) }
