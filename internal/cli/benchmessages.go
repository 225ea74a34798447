package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"levelboard/internal/bench/loadgen"
)

// manyMembers is how many members there are by default when messages are sent.
const manyMembers = 1_000_000

func (f *benchFlags) registerMessages(command *cobra.Command) {
	flags := command.PersistentFlags()
	flags.StringVar(&f.batch, "batch", "100", "messages: how many in a call, 1 to 1000, or mixed")
	flags.StringVar(&f.record, "record", "", "messages: write the calls to this file (gzipped if it ends in .gz) and send none; no service is needed")
	flags.Int64Var(&f.messages, "messages", 1_000_000, "messages: how many to record")
	flags.StringVar(&f.replay, "replay", "", "messages: send the calls of this file, until its end or for the duration")
}

// messagesOptions checks and applies the flags of the scenario messages.
func (f *benchFlags) messagesOptions(o *loadgen.Options) error {
	if f.scenario != loadgen.MessagesScenario {
		for _, flag := range []string{"batch", "record", "messages", "replay"} {
			if f.given(flag) {
				return usage("--%s is for the scenario %s", flag, loadgen.MessagesScenario)
			}
		}
		o.Batch = loadgen.Mixed
		return nil
	}
	if !f.given("members") {
		o.Members = manyMembers
	}
	if !f.given("skew") {
		o.Skew = loadgen.Zipf
	}
	switch {
	case !o.Batch.Valid():
		return usage("--batch must be from 1 to %d or %s", loadgen.MaxBatch, loadgen.Mixed)
	case f.given("messages") && f.record == "":
		return usage("--messages says how many to --record")
	case f.messages < 1:
		return usage("--messages must be at least 1")
	case f.record != "" && f.replay != "":
		return usage("--record sends nothing, so there is no --replay with it")
	case f.replay == "":
		return nil
	}
	for _, flag := range []string{"members", "skew", "seed", "batch"} {
		if f.given(flag) {
			return usage("--%s is what the file says that --replay sends", flag)
		}
	}
	made, err := loadgen.CheckRecording(f.replay)
	o.Members, o.Skew, o.Seed, o.Batch = made.Members, made.Skew, made.Seed, made.Batch
	return err
}

// record writes a recording. A file that is there already stays as it is; one that could not be finished is removed.
func (p *program) record(ctx context.Context, f *benchFlags, o loadgen.Options) error {
	file, err := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("make the recording: %w", err)
	}
	r := loadgen.Recording{Seed: o.Seed, Members: o.Members, Skew: o.Skew, Batch: o.Batch, Messages: f.messages}
	err = p.untilSignal(ctx, func(ctx context.Context) error {
		return loadgen.Record(ctx, file, r, strings.HasSuffix(f.record, ".gz"))
	})
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(f.record))
	}
	p.printf("%s holds %d messages, seed %d.\n", f.record, f.messages, o.Seed)
	return nil
}
