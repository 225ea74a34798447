package loadgen

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// CheckRecording reads a recording whole and says what it holds. The error names the line that is wrong.
func CheckRecording(path string) (Recording, error) {
	f, err := openRecording(path)
	if err != nil {
		return Recording{}, err
	}
	defer f.close()
	var authors []int
	messages := int64(0)
	for {
		body, err := f.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Recording{}, err
		}
		n, err := callSize(body)
		if err != nil {
			return Recording{}, f.wrong(err)
		}
		authors = appendAuthors(authors[:0], body, f.header.Members)
		if len(authors) != n {
			return Recording{}, f.wrong(errors.New("the call is not compact JSON"))
		}
		for _, author := range authors {
			if author < 0 {
				return Recording{}, f.wrong(fmt.Errorf("a user is none of the %d members", f.header.Members))
			}
		}
		messages += int64(n)
	}
	if messages != f.header.Messages {
		return Recording{}, fmt.Errorf("%s holds %d messages, and its header says %d", path, messages, f.header.Messages)
	}
	return f.header, nil
}

// callSize is how many messages a call has.
func callSize(body []byte) (int, error) {
	var call struct {
		Messages []struct {
			UserID          string          `json:"userId"`
			ChannelID       string          `json:"channelId"`
			ParentChannelID *string         `json:"parentChannelId"`
			RoleIDs         []string        `json:"roleIds"`
			User            json.RawMessage `json:"user"`
		} `json:"messages"`
	}
	if err := strictly(body, &call); err != nil {
		return 0, err
	}
	if n := len(call.Messages); n < 1 || n > MaxBatch {
		return 0, fmt.Errorf("a call has 1 to %d messages, not %d", MaxBatch, n)
	}
	return len(call.Messages), nil
}

// strictly reads one JSON value without unknown properties and with nothing after it.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// recording is an open file, read line by line.
type recording struct {
	path   string
	file   *os.File
	lines  *bufio.Reader
	number int // of the line read last
	header Recording
}

var errRecording = errors.New("not a recording of messages, version 1")

func openRecording(path string) (*recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	f := &recording{path: path, file: file, lines: bufio.NewReaderSize(file, maxLine)}
	if err := f.begin(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *recording) begin() error {
	if magic, err := f.lines.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unpacked, err := gzip.NewReader(f.lines)
		if err != nil {
			return fmt.Errorf("open the recording: %w", err)
		}
		f.lines = bufio.NewReaderSize(unpacked, maxLine)
	}
	line, err := f.line()
	if err == nil {
		err = strictly(line, &f.header)
	}
	if h := f.header; err != nil || h.Format != recordingFormat || h.Version != recordingVersion {
		return fmt.Errorf("%s: %w", f.path, errors.Join(errRecording, err))
	}
	if h := f.header; h.Members < 1 || h.Members > MaxMembers || !h.Skew.Valid() || !h.Batch.Valid() || h.Messages < 1 {
		return f.wrong(errors.New("the header is out of bounds"))
	}
	return nil
}

// line is the next line, valid until the next call; io.EOF after the last one.
func (f *recording) line() ([]byte, error) {
	f.number++
	line, err := f.lines.ReadSlice('\n')
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, f.wrong(fmt.Errorf("longer than %d bytes", maxLine))
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, f.wrong(errors.New("the file is cut off"))
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	return nil, f.wrong(err)
}

func (f *recording) wrong(err error) error {
	return fmt.Errorf("%s: line %d: %w", f.path, f.number, err)
}

func (f *recording) close() { _ = f.file.Close() }

// replay hands the calls of a recording to all connections, each call once.
type replay struct {
	mu  sync.Mutex
	f   *recording
	err error // what ended it before its end
}

func (p *replay) next(b []byte) (body []byte, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return b, false
	}
	line, err := p.f.line()
	if err != nil {
		p.err = err
		return b, false
	}
	return append(b, line...), true
}

// problem is why the recording could not be read to its end; nil when it was, and when it did not come to that.
func (p *replay) problem() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil || errors.Is(p.err, io.EOF) {
		return nil
	}
	return p.err
}
