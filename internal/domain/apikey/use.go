package apikey

import (
	"sync/atomic"
	"time"
)

// use counts the requests of one key on this replica. Counting takes two atomic stores and no memory; only the first
// request after the count was taken does more, which is to tell the meter.
type use struct {
	keyID    string
	meter    *Meter // nil: nothing is counted
	requests atomic.Int64
	last     atomic.Int64 // milliseconds
	next     *use         // in the meter's list
}

// add counts a request.
func (u *use) add(now time.Time) {
	if u.meter == nil {
		return
	}
	u.last.Store(now.UnixMilli())
	if u.requests.Add(1) == 1 && !u.meter.push(u) {
		u.requests.Store(0)
	}
}

// usedList is a list of counts that are not 0. A count is in it once at most: from its first request until it is taken.
type usedList struct {
	first  atomic.Pointer[use]
	length atomic.Int64
}

// push puts a count in front, or refuses it when the list is full.
func (l *usedList) push(u *use) bool {
	if l.length.Add(1) > maxUsed {
		l.length.Add(-1)
		return false
	}
	for {
		first := l.first.Load()
		u.next = first
		if l.first.CompareAndSwap(first, u) {
			return true
		}
	}
}

// take empties the list and sets its counts back to 0. It returns one entry for each key, also when a key was forgotten
// and read again in between, and so has several counts.
func (l *usedList) take() map[string]KeyUse {
	taken := map[string]KeyUse{}
	for u := l.first.Swap(nil); u != nil; {
		// From the moment the count is 0 a request may put it into the list again, and so change next.
		next := u.next
		l.length.Add(-1)
		n, last := u.requests.Swap(0), time.UnixMilli(u.last.Load()).UTC()
		sum := taken[u.keyID]
		sum.KeyID, sum.Requests = u.keyID, sum.Requests+n
		if last.After(sum.LastUsed) {
			sum.LastUsed = last
		}
		taken[u.keyID] = sum
		u = next
	}
	return taken
}
