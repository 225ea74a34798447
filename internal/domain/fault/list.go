package fault

import "strings"

// MaxListed is how many faults a List keeps.
const MaxListed = 50

// List collects the mistakes in one body: the first MaxListed faults, in the order
// in which they were found, and the number of further ones. Its zero value is empty.
type List struct {
	Faults []*Error
	More   int
}

// Add adds a fault.
func (l *List) Add(e *Error) {
	if len(l.Faults) == MaxListed {
		l.More++
		return
	}
	l.Faults = append(l.Faults, e)
}

// At adds the fault that the function At returns.
func (l *List) At(path, rule string, args ...any) { l.Add(At(path, rule, args...)) }

// Has reports whether a fault is at the path or at a part of it.
func (l *List) Has(path string) bool {
	for _, e := range l.Faults {
		if rest, ok := strings.CutPrefix(e.Path, path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// Len returns how many faults there are.
func (l *List) Len() int { return len(l.Faults) + l.More }

// Err returns the first fault, or nil.
func (l *List) Err() error {
	if len(l.Faults) == 0 {
		return nil
	}
	return l.Faults[0]
}
