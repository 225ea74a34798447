package httpapi

import (
	"net/http"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/checkpoints"
)

// checkpointRequest is the body of POST of checkpoints. automatic is set for the checkpoint before an import.
type checkpointRequest struct {
	Name      string                    `json:"name" bytes:"1..400"`
	Automatic strictjson.Optional[bool] `json:"automatic"`
}

func (a *api) listCheckpoints(r *request, g id.Guild) (any, error) {
	found, err := a.deps.Checkpoints.List(r.ctx, g)
	return object{"checkpoints": found}, err
}

func (a *api) createCheckpoint(r *request) (any, error) {
	g := r.adminGuild()
	var sent checkpointRequest
	r.decode(&sent)
	if utf8.RuneCountInString(sent.Name) > checkpoints.MaxName {
		r.keep(fault.At("name", "must have at most %d characters", checkpoints.MaxName))
	}
	if r.err != nil {
		return nil, r.err
	}
	r.status = http.StatusCreated
	return a.deps.Checkpoints.Create(r.ctx, g, sent.Name, sent.Automatic.Or(false))
}

func (a *api) deleteCheckpoint(r *request, g id.Guild) (any, error) {
	return nil, a.deps.Checkpoints.Delete(r.ctx, g, r.c.Param("checkpointId"))
}

func (a *api) restoreCheckpoint(r *request, g id.Guild) (any, error) {
	return a.deps.Checkpoints.Restore(r.ctx, g, r.c.Param("checkpointId"))
}

func (a *api) resetGuild(r *request, g id.Guild) (any, error) {
	return a.deps.Checkpoints.Reset(r.ctx, g)
}
