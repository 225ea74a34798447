package jobs

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// world is a guild without members.
type world struct {
	Checkpoints
	Settings
	began    []importer.Begin
	finished int64
	puts     []leaderboard.Puts
	err      error // of the next put
}

func (w *world) Read(context.Context, guilds.Actor, id.Guild) (*guild.Guild, error) {
	return &guild.Guild{Settings: guild.Settings{ID: guild1}}, nil
}

func (w *world) Export(context.Context, id.Guild) (*guild.Guild, iter.Seq2[importer.Exported, error], error) {
	return nil, func(func(importer.Exported, error) bool) {}, nil
}

func (w *world) BeginImport(_ context.Context, _ id.Guild, b importer.Begin) (checkpoints.Import, error) {
	w.began = append(w.began, b)
	return checkpoints.Import{ID: "i", Checkpoint: checkpoints.Checkpoint{ID: "c"}}, nil
}

func (w *world) FinishImport(_ context.Context, _ id.Guild, _ string, members int64) error {
	w.finished = members
	return nil
}

func (w *world) Put(_ context.Context, _ *guild.Guild, p leaderboard.Puts) (done []leaderboard.Done, replayed bool, err error) {
	w.puts = append(w.puts, p)
	err, w.err = w.err, nil
	if err != nil {
		return nil, false, err
	}
	for range p.Members {
		done = append(done, leaderboard.Done{State: leaderboard.Created})
	}
	return done, false, nil
}

// An import that failed between its calls is continued by the same upload, with the same plan and the same names of calls.
func TestAnImportIsPreviewedConfirmedAndContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{err: errors.New("broken")}
		r := New(Options{Checkpoints: w, Settings: w, Board: w, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.Run(ctx) }()
		upload := func() {
			arrival, err := r.Receive(t.Context(), guild1)
			if err == nil {
				err = arrival.Add("a.csv", strings.NewReader("id,xp\n200000000000000001,5\n"))
			}
			if err == nil {
				err = arrival.Preview(ctx, importer.Choice{Mode: leaderboard.PutAdd})
			}
			if err != nil {
				t.Fatal(err)
			}
			ready := r.wants(t, guild1, Ready)
			if plan := ready.Import.Plan; plan.Members != 1 || plan.New != 1 {
				t.Errorf("the plan is %+v, want one new member", plan)
			}
			if err := r.Confirm(ctx, guild1, ready.ID, false); err != nil {
				t.Fatal(err)
			}
			if err := r.Confirm(ctx, guild1, ready.ID, false); !fault.Is(err, fault.Conflict) {
				t.Errorf("confirming twice: %v, want fault.Conflict", err)
			}
		}
		upload()
		if j := r.wants(t, guild1, Failed); j.Checkpoint.ID != "c" || j.Import.Result.Written() != 0 || w.finished != 0 {
			t.Errorf("the interrupted import is %+v, want checkpoint c and nothing written", j)
		}
		upload()
		if j := r.wants(t, guild1, Done); j.Import.Result.Created != 1 || w.finished != 1 {
			t.Errorf("the continued import is %+v, want one created member", j)
		}
		if len(w.puts) != 2 || w.puts[0].Once != w.puts[1].Once || !w.puts[0].Import || w.began[0] != w.began[1] || len(w.began[0].Plan) != 64 {
			t.Errorf("the imports began as %+v with the calls %+v, want both the same twice", w.began, w.puts)
		}
		cancel()
		<-ended
	})
}

func TestAnImportOfNothingIsNotOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		r := New(Options{Checkpoints: w, Settings: w, Board: w, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
		arrival, err := r.Receive(t.Context(), guild1)
		if err != nil || arrival.Add("a.csv", strings.NewReader("id,xp\n12,5\n")) != nil {
			t.Fatal(err)
		}
		if err := arrival.Preview(t.Context(), importer.Choice{Mode: leaderboard.PutSet}); err != nil {
			t.Fatal(err)
		}
		if j := r.wants(t, guild1, Failed); !fault.Is(j.Err, fault.Invalid) {
			t.Errorf("the job is %+v, want a failure with fault.Invalid", j)
		}
	})
}
