package ratelimit

import "time"

// SetClock gives the limiter another clock than the machine's.
func (l *Limiter) SetClock(now func() time.Time) { l.now = now }

// Waiting is how many requests wait to be charged with the next question, and Tills how many tills are kept.
func (l *Limiter) Waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tills {
		n += len(t.waiting)
	}
	return n
}

func (l *Limiter) Tills() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tills)
}

// Asking is for how many tills Redis is being asked.
func (l *Limiter) Asking() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tills {
		if t.asking {
			n++
		}
	}
	return n
}

// Patient is what a question is asked with.
var Patient = patient
