package snapshot

import "time"

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows

// Tasks are tasks.
type Tasks struct{ *tasks }

// NewTasks is newTasks.
func NewTasks() Tasks { return Tasks{newTasks()} }

// Add is add.
func (t Tasks) Add(task func()) { t.add(task) }

// Run is run.
func (t Tasks) Run(atOnce int, within time.Duration) { t.run(atOnce, within) }
