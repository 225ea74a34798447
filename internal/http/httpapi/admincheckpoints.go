package httpapi

import (
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/checkpoints"
)

// checkpointRequest is the body of POST of checkpoints. Who makes one before an import says that it is automatic.
type checkpointRequest struct {
	Name      string                    `json:"name" bytes:"1..400"`
	Automatic strictjson.Optional[bool] `json:"automatic"`
}

type checkpointJSON struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	Members   int64     `json:"members"`
	Automatic bool      `json:"automatic"`
}

func checkpointBody(c checkpoints.Checkpoint) checkpointJSON {
	return checkpointJSON{c.ID, c.Name, c.CreatedAt, c.Members, c.Automatic}
}

func (a *api) listCheckpoints(c *gin.Context) error {
	r := a.read(c)
	g := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	found, err := a.deps.Checkpoints.List(r.ctx, g)
	if err != nil {
		return err
	}
	list := struct {
		Checkpoints []checkpointJSON `json:"checkpoints"`
	}{make([]checkpointJSON, len(found))}
	for i := range found {
		list.Checkpoints[i] = checkpointBody(found[i])
	}
	return answer(c, http.StatusOK, list)
}

func (a *api) createCheckpoint(c *gin.Context) error {
	r := a.read(c)
	g := r.adminGuild()
	var sent checkpointRequest
	r.decode(&sent)
	if utf8.RuneCountInString(sent.Name) > checkpoints.MaxName {
		r.keep(fault.At("name", "must have at most %d characters", checkpoints.MaxName))
	}
	if r.err != nil {
		return r.err
	}
	made, err := a.deps.Checkpoints.Create(r.ctx, g, sent.Name, sent.Automatic.Or(false))
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, checkpointBody(made))
}

func (a *api) deleteCheckpoint(c *gin.Context) error {
	r := a.read(c)
	g := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Checkpoints.Delete(r.ctx, g, c.Param("checkpointId")))
}

func (a *api) restoreCheckpoint(c *gin.Context) error {
	r := a.read(c)
	g := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	done, err := a.deps.Checkpoints.Restore(r.ctx, g, c.Param("checkpointId"))
	return answerReplaced(c, done, err)
}

func (a *api) resetGuild(c *gin.Context) error {
	r := a.read(c)
	g := r.adminGuild()
	if r.err != nil {
		return r.err
	}
	done, err := a.deps.Checkpoints.Reset(r.ctx, g)
	return answerReplaced(c, done, err)
}

func answerReplaced(c *gin.Context, done checkpoints.Replaced, err error) error {
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, struct {
		Members    int64          `json:"members"`
		Checkpoint checkpointJSON `json:"checkpoint"`
	}{done.Members, checkpointBody(done.Before)})
}
