package jobs

import (
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/importer"
)

// Kind is what a job does.
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

// Active reports that the job is at work or waits for its turn.
func (s State) Active() bool {
	return s == Receiving || s == Waiting || s == Reading || s == Running
}

// Job is a job at one moment.
type Job struct {
	ID    string
	Kind  Kind
	State State
	Name  string // of the checkpoint that is made
	// Checkpoint is the checkpoint that the job made before it changed members; zero until then.
	Checkpoint checkpoints.Checkpoint
	Members    int64     // of a Restore that is done
	Err        error     // of a job that Failed
	By         string    // the name of the user who started it
	At         time.Time // when
	HasFiles   bool      // of an import that can be compared again, with another choice
	Import     *ImportJob
}

// ImportJob is the progress of an import.
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
	user   string  // the user who started it
	upload *upload // the files of an import until it ends; else nil
	until  time.Time
}
