package importer

import "bufio"

// lineEnds makes a line feed of each line's end: CR LF, CR or LF. It keeps text between quotes as it is: encoding/csv drops a carriage
// return before a line feed there as well, so it gets a second one.
type lineEnds struct {
	from  *bufio.Reader
	comma byte // of a table; 0 for lines without quotes

	last   byte // that was read; the line before the file has ended
	began  bool
	quoted bool // the next byte is between quotes
	twice  bool // a line feed follows, for which a carriage return was doubled
}

// Read implements io.Reader.
func (l *lineEnds) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if l.twice {
			p[n], l.twice = '\n', false
			n++
			continue
		}
		b, err := l.from.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil // it is returned again
			}
			return 0, err
		}
		if out, ok := l.next(b); ok {
			p[n] = out
			n++
		}
	}
	return n, nil
}

// next returns the byte in place of b, unless it is dropped.
func (l *lineEnds) next(b byte) (out byte, ok bool) {
	last := l.last
	fieldBegins := !l.began || last == '\n' || last == '\r' || last == l.comma
	l.last, l.began = b, true
	switch {
	case l.quoted:
		if b == '"' {
			l.quoted = false
		} else if b == '\n' && last == '\r' {
			l.twice = true
			return '\r', true
		}
	case b == '"' && l.comma != 0 && (fieldBegins || last == '"'): // after a quote, it is one of two that stand for one
		l.quoted = true
	case b == '\r':
		return '\n', true
	case b == '\n' && last == '\r':
		return 0, false
	}
	return b, true
}
