package importer

import (
	"bytes"
	"errors"
	"io"
)

const (
	// maxValue is the maximum size of a member, an object of settings or a line, in bytes.
	maxValue = 1 << 20
	// maxRead is how far a parser reads ahead, in bytes.
	maxRead = 32 << 10
)

var errLong = errors.New("a value is longer than 1 MiB")

// input passes a file to a parser. It counts lines, and bounds the parser's memory.
type input struct {
	from   io.Reader
	given  int64   // bytes passed to the parser
	parsed int64   // bytes that the parser has finished
	starts []int64 // offsets at which lines begin, after the last argument of lineAt
	line   int
	last   byte // the last byte passed on
}

func newInput(from io.Reader) *input { return &input{from: from, line: 1} }

// Read returns errLong if the parser holds more than it may.
func (in *input) Read(p []byte) (int, error) {
	if in.given-in.parsed > maxValue {
		return 0, errLong
	}
	n, err := in.from.Read(p[:min(len(p), maxRead)])
	for at := 0; ; {
		i := bytes.IndexByte(p[at:n], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		in.starts = append(in.starts, in.given+int64(at))
	}
	if in.given += int64(n); n > 0 {
		in.last = p[n-1]
	}
	return n, err
}

// done says that the parser has finished all bytes before the offset.
func (in *input) done(offset int64) {
	in.parsed = offset
	in.lineAt(offset)
}

// lineAt returns the line of an offset, from 1. Call it with rising offsets.
func (in *input) lineAt(offset int64) int {
	passed := 0
	for passed < len(in.starts) && in.starts[passed] <= offset {
		passed++
	}
	in.line += passed
	in.starts = in.starts[passed:]
	return in.line
}

// lineFeeds returns a file's content with line feeds if its lines end with
// carriage returns alone, judging by prefix. It returns other content unchanged.
func lineFeeds(content io.Reader, prefix []byte) io.Reader {
	if bytes.IndexByte(prefix, '\r') < 0 || bytes.IndexByte(prefix, '\n') >= 0 {
		return content
	}
	return carriageReturns{content}
}

type carriageReturns struct{ io.Reader }

// Read implements io.Reader.
func (c carriageReturns) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	for i := range p[:n] {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}
