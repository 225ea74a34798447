package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar at the terminal.
type progress struct {
	bar *progressbar.ProgressBar // nil without a terminal
}

// progress shows how many of the members were written, the rate and the time left, if there is a terminal.
func (p *program) progress(members int) progress {
	if !terminal(p.Stderr) {
		return progress{}
	}
	bar := progressbar.NewOptions(members, progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("members"), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	bar.StartWithoutRender() // else the rate leaves out the time of the first call
	return progress{bar}
}

func (p progress) set(members int) {
	if p.bar != nil {
		_ = p.bar.Set(members)
	}
}

func (p progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
