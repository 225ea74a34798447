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

// State is the progress of a job.
type State string

// The states. Each job ends as Done or Failed.
const (
	Receiving State = "receiving" // the files of an import are arriving
	Waiting   State = "waiting"   // other jobs must end first
	Reading   State = "reading"   // the files of an import are compared with the members
	Ready     State = "ready"     // a manager must confirm the import
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
)

// Active reports whether the job is running or waits for its turn.
func (s State) Active() bool {
	return s == Receiving || s == Waiting || s == Reading || s == Running
}

// Job describes a job at one moment.
type Job struct {
	ID    string
	Kind  Kind
	State State
	Name  string // of the checkpoint that the job makes
	// Checkpoint is the checkpoint that the job made before it changed members; zero until then.
	Checkpoint checkpoints.Checkpoint
	Members    int64     // of a Restore that is Done
	Err        error     // of a job that Failed
	By         string    // the name of the user who started it
	At         time.Time // when they started it
	HasFiles   bool      // the files of the import can be compared again, with another choice
	Import     *ImportJob
}

// ImportJob is the progress of an import.
type ImportJob struct {
	importer.Choice
	Files  []string // the names of the files
	Report importer.Report
	Plan   importer.Plan
	Curve  level.Curve // Plan counts levels by it
	Result importer.Result
}

// job is a Job in the queue.
type job struct {
	Job
	guild  id.Guild
	user   string  // the user who started it
	upload *upload // the files of an import until its end; else nil
	until  time.Time
}
