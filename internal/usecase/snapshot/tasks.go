package snapshot

import (
	"context"
	"time"
)

// task is work of which some may be done at the same time.
type task struct {
	size int // how much it is, all that it leads to included
	// do is told when it is to be done, and returns what it leads to: more tasks, which are together not larger.
	do func(due time.Time) []task
}

// tasks says how far a run of tasks is.
type tasks struct {
	waiting []task // what was added last is done first, so that what a task leads to does not wait for all others
	running int

	all, begun, done int // sizes
}

// run does all tasks and what they lead to. It begins them evenly over the time that they may take, one at a time for as long as that
// will have done all of them within it, and more at the same time, up to atOnce, the further it is behind: the others whom the machine is
// for are to feel little of it. With a time of 0 it does atOnce from the first on, and so it does once ctx has ended: then it is for the
// tasks to do nothing.
func run(ctx context.Context, atOnce int, within time.Duration, waiting []task) {
	t := tasks{waiting: waiting, all: sizeOf(waiting)}
	began, results := time.Now(), make(chan func())
	late := time.NewTimer(within)
	defer late.Stop()
	for ended := ctx.Done(); t.running > 0 || len(t.waiting) > 0; {
		late.Reset(t.begin(atOnce, within, time.Since(began), results))
		select {
		case end := <-results:
			end()
		case <-late.C:
		case <-ended:
			within, ended = 0, nil
		}
	}
}

// lateness is what share of the time tasks are behind, for each one more that is done at the same time.
const lateness = 1.0 / 16

// begin begins the tasks that may be done now, and says when one more may be, if none ends before. Each sends what notes its end.
func (t *tasks) begin(atOnce int, within, passed time.Duration, ends chan<- func()) (next time.Duration) {
	for len(t.waiting) > 0 && t.running < atOnce {
		begun, done := float64(t.begun)/float64(t.all), float64(t.done)/float64(t.all)
		if next = time.Duration(max(begun, done+lateness*float64(t.running))*float64(within)) - passed; next > 0 {
			return next
		}
		// Those that are not done yet share the time that is left.
		due := time.Now().Add((within - passed) / time.Duration(t.running+len(t.waiting)))
		last := len(t.waiting) - 1
		one := t.waiting[last]
		t.waiting = t.waiting[:last]
		t.running++
		t.begun += one.size
		go func() {
			left := one.do(due)
			ends <- func() { t.end(one, left) }
		}()
	}
	return time.Hour
}

// end has what a task leads to count in its place: else it would seem as if nearly all were done, and time to rest, when half of them
// have found how much there is.
func (t *tasks) end(one task, left []task) {
	t.running--
	t.waiting = append(t.waiting, left...)
	t.begun -= sizeOf(left)
	t.done += one.size - sizeOf(left)
}

func sizeOf(tasks []task) (size int) {
	for _, t := range tasks {
		size += t.size
	}
	return size
}
