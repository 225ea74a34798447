package cli

import (
	"fmt"
	"io"
)

// progressLine shows how far something is: on a terminal in one line that is written over, else in a line each time. It is
// for one goroutine at a time.
type progressLine struct {
	w     io.Writer
	over  bool
	shown bool
}

func newProgressLine(w io.Writer) *progressLine {
	return &progressLine{w: w, over: terminal(w)}
}

func (l *progressLine) show(text string) {
	if l.over {
		fmt.Fprintf(l.w, "\r\x1b[Klevelboard: %s", text)
	} else {
		fmt.Fprintf(l.w, "levelboard: %s\n", text)
	}
	l.shown = true
}

// end goes to the next line, so that what follows does not write over the last text.
func (l *progressLine) end() {
	if l.over && l.shown {
		fmt.Fprintln(l.w)
	}
	l.shown = false
}
