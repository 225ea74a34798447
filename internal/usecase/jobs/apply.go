package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/guildsettings"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// writeTries is how often a call is made, with pauses that double from firstPause to longestPause, while the stores cannot serve it.
	writeTries               = 6
	firstPause, longestPause = time.Second, 8 * time.Second
)

// Confirm applies an import that is Ready. A Conflict fault when the guild has another job by now. again adds files that were added before.
func (r *Runner) Confirm(ctx context.Context, g id.Guild, jobID string, again bool) error {
	r.mu.Lock()
	j := r.jobs[g]
	if j == nil || j.ID != jobID || j.State != Ready || r.o.Now().After(j.until) {
		r.mu.Unlock()
		return fault.New(fault.Conflict, "This upload is no longer available: it was replaced, or is older than an hour. Upload the files again.")
	}
	j.State = Waiting
	r.mu.Unlock()
	r.work(ctx, j, stages{Running, Done}, func(ctx context.Context) error { return r.apply(ctx, j, again) })
	return nil
}

// apply makes a checkpoint, takes the settings and writes the members.
func (r *Runner) apply(ctx context.Context, j *job, again bool) error {
	in, remove, err := r.gather(ctx, j, 1)
	if err != nil {
		return err
	}
	defer remove()
	g, settings := in.guild, j.settings(in.guild.Settings, &in.report)
	curve, begin := settings.Curve, checkpoints.Begin{}
	if j.Import.Mode == leaderboard.PutAdd { // only what is added must be applied once
		begin = checkpoints.Begin{Files: j.upload.hash(), Again: again}
		if begin.Plan, err = in.members.PlanHash(j.Import.Mode, curve, j.Import.MinLevel); err != nil {
			return err
		}
	}
	begun, err := r.o.Checkpoints.BeginImport(ctx, j.guild, begin)
	if err != nil {
		return err
	}
	r.change(func() { j.Checkpoint = begun.Checkpoint })
	if j.Import.Settings && !in.report.Proposal.Empty() {
		if g, err = r.takeSettings(ctx, g, settings); err != nil {
			return err
		}
	}
	if err := (&writing{Runner: r, job: j, guild: g, importID: begun.ID}).all(ctx, in.members); err != nil {
		return err
	}
	return r.o.Checkpoints.FinishImport(ctx, j.guild, begun.ID, int64(j.Import.Result.Written()))
}

// taken are the properties of the guild's document that files can have.
var taken = []string{"curve", "roleRewards", "xpPerMessageMin", "xpPerMessageMax", "xpGainInterval", "xpGlobalMultiplier"}

// takeSettings saves what an import takes of the settings in its files.
func (r *Runner) takeSettings(ctx context.Context, g *guild.Guild, then guild.Settings) (*guild.Guild, error) {
	encoded, err := guild.Marshal(then)
	if err != nil {
		return nil, err
	}
	document, given := map[string]jsontext.Value{}, guildsettings.Given{}
	if err := json.Unmarshal(encoded, &document); err != nil {
		return nil, fmt.Errorf("take the settings of an import: %w", err)
	}
	for _, name := range taken {
		given[name] = document[name]
	}
	p, wrong, err := guildsettings.Propose(g.Settings, given)
	if err != nil {
		return nil, err
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "The settings in the files do not fit yours: %s: %s. Import without them.", wrong[0].Path, wrong[0].Message)
	}
	return r.o.Settings.Save(ctx, g, p)
}

// writing is an import whose members are being written, in calls that are made once each.
type writing struct {
	*Runner
	job      *job
	guild    *guild.Guild
	importID string
	calls    int
}

func (w *writing) all(ctx context.Context, members *importer.Members) error {
	for call, err := range members.Calls(w.job.Import.Mode, w.guild.Curve, w.job.Import.MinLevel) {
		if err == nil {
			err = w.send(ctx, call)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// send writes the members of a call, in more tries while the stores do not answer.
func (w *writing) send(ctx context.Context, call *importer.Call) error {
	puts := leaderboard.Puts{Mode: w.job.Import.Mode, Members: call.Members, Import: true, Once: leaderboard.Once{
		// The command's request, so that either continues what the other began.
		Key:     leaderboard.DigestOf([]byte("operator"), fmt.Appendf(nil, "%s-%d", w.importID, w.calls)),
		Request: leaderboard.DigestOf([]byte("PUT"), []byte("/admin/guilds/"+string(w.guild.ID)+"/members"), call.Body),
	}}
	for try, wait := 1, firstPause; ; try, wait = try+1, min(2*wait, longestPause) {
		done, _, err := w.o.Board.Put(ctx, w.guild, puts)
		if err == nil {
			w.count(done)
			break
		}
		if errors.Is(err, leaderboard.ErrGuildMoved) || !fault.Is(err, fault.Unavailable) || try == writeTries || !pause.For(ctx, wait) {
			return err
		}
	}
	w.calls++
	return nil
}

func (w *writing) count(done []leaderboard.Done) {
	w.change(func() {
		result := &w.job.Import.Result
		for _, d := range done {
			switch d.State {
			case leaderboard.Created:
				result.Created++
			case leaderboard.Changed:
				result.Changed++
			default:
				result.Unchanged++
			}
		}
	})
}
