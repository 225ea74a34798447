package plainhttp

import "time"

// deadlineSlack is how much sooner than it says a deadline may come, so that it is not set anew for each request. A quarter of a short
// time is less than that.
const deadlineSlack = time.Second

// deadline is one that is set on a connection; zero for none.
type deadline struct{ time.Time }

// move makes it patience from now, none if that is 0, and reports whether it has to be set on the connection: not when it would be
// there already, but for the slack.
func (d *deadline) move(now time.Time, patience time.Duration) bool {
	if patience <= 0 {
		was := d.Time
		d.Time = time.Time{}
		return !was.IsZero()
	}
	by := now.Add(patience)
	if later := by.Sub(d.Time); later >= 0 && later < min(deadlineSlack, patience/4) {
		return false
	}
	d.Time = by
	return true
}
