package jobs

import (
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/importer"
)

// Kind says what a job does.
type Kind string

// The kinds.
const (
	Checkpoint Kind = "checkpoint"
	Restore    Kind = "restore"
	Reset      Kind = "reset"
	Import     Kind = "import"
)

// State says how far a job is.
type State string

// The states. Each job ends as Done or Failed.
const (
	Receiving State = "receiving" // the files of an import arrive
	Waiting   State = "waiting"   // for other jobs to end
	Reading   State = "reading"   // the files of an import are compared with the members
	Ready     State = "ready"     // an import waits until somebody confirms it
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
)

// Active reports that the job continues by itself.
func (s State) Active() bool {
	return s == Receiving || s == Waiting || s == Reading || s == Running
}

// Job is a job at one moment.
type Job struct {
	ID    string
	Kind  Kind
	State State
	Name  string // of the checkpoint that is made
	// Checkpoint is the one that was made, of a job that changes members before it; zero until then.
	Checkpoint checkpoints.Checkpoint
	Members    int64     // of a Restore that is done
	Err        error     // of a job that Failed
	By         string    // the name of who started it
	At         time.Time // when
	HasFiles   bool      // of an import that can be compared again, with another choice
	Import     *ImportJob
}

// ImportJob is what is known of an import, as far as it is.
type ImportJob struct {
	importer.Choice
	Files  []string // their names
	Report importer.Report
	Plan   importer.Plan
	Curve  level.Curve // by which Plan counts levels
	Result importer.Result
}

// job is a Job that is kept.
type job struct {
	Job
	guild  id.Guild
	user   string  // who started it
	upload *upload // the files of an import until it ends; else nil
	until  time.Time
}
