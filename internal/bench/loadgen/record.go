package loadgen

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
)

// A recording is a file of lines, gzipped or not: a header, then for each call the body of its request, all compact JSON.
const (
	recordingFormat  = "levelboard messages"
	recordingVersion = 1
	// maxLine bounds a line, as the service bounds a call.
	maxLine = 1 << 20
)

// Recording is what a recording's header says.
type Recording struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Seed     uint64 `json:"seed"`
	Members  int    `json:"members"`
	Skew     Skew   `json:"skew"`
	Batch    Batch  `json:"batch"`
	Messages int64  `json:"messages"` // at least 1; a call that would be more is cut
}

// Record writes the calls that a seed makes, with as many messages as r says, and the same file each time. r needs no Format
// and no Version; the bounds are for the caller to check. It ends early, with the file cut off, when ctx ends.
func Record(ctx context.Context, w io.Writer, r Recording, zipped bool) error {
	if !zipped {
		return record(ctx, w, r)
	}
	packed := gzip.NewWriter(w)
	if err := record(ctx, packed, r); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

func record(ctx context.Context, w io.Writer, r Recording) error {
	r.Format, r.Version = recordingFormat, recordingVersion
	header, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	line := append(header, '\n')
	traffic := newTraffic(rand.New(rand.NewPCG(r.Seed, 0)), r.Members, r.Skew, r.Batch)
	var call []spoken
	left := r.Messages
	for {
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("write the recording: %w", err)
		}
		if left -= int64(len(call)); left == 0 {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		call = traffic.next(call[:0])
		call = call[:min(int64(len(call)), left)]
		line = append(appendCall(line[:0], call), '\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}
