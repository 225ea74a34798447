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
	gid, err := adminGuild(c)
	if err != nil {
		return err
	}
	found, err := a.deps.Checkpoints.List(c.Request.Context(), gid)
	if err != nil {
		return err
	}
	list := struct {
		Checkpoints []checkpointJSON `json:"checkpoints"`
	}{make([]checkpointJSON, len(found))}
	for i := range found {
		list.Checkpoints[i] = checkpointBody(found[i])
	}
	writeJSON(c, http.StatusOK, list)
	return nil
}

func (a *api) createCheckpoint(c *gin.Context) error {
	gid, sent, err := adminBody(c)
	if err != nil {
		return err
	}
	var request checkpointRequest
	if err := strictjson.Decode(sent, &request); err != nil {
		return err
	}
	if utf8.RuneCountInString(request.Name) > checkpoints.MaxName {
		return fault.At("name", "must have at most %d characters", checkpoints.MaxName)
	}
	made, err := a.deps.Checkpoints.Create(c.Request.Context(), gid, request.Name, request.Automatic.Or(false))
	if err != nil {
		return err
	}
	writeJSON(c, http.StatusCreated, checkpointBody(made))
	return nil
}

func (a *api) deleteCheckpoint(c *gin.Context) error {
	gid, err := adminGuild(c)
	if err != nil {
		return err
	}
	return noContent(c, a.deps.Checkpoints.Delete(c.Request.Context(), gid, c.Param("checkpointId")))
}

func (a *api) restoreCheckpoint(c *gin.Context) error {
	gid, err := adminGuild(c)
	if err != nil {
		return err
	}
	done, err := a.deps.Checkpoints.Restore(c.Request.Context(), gid, c.Param("checkpointId"))
	return writeReplaced(c, done, err)
}

func (a *api) resetGuild(c *gin.Context) error {
	gid, err := adminGuild(c)
	if err != nil {
		return err
	}
	done, err := a.deps.Checkpoints.Reset(c.Request.Context(), gid)
	return writeReplaced(c, done, err)
}

func writeReplaced(c *gin.Context, done checkpoints.Replaced, err error) error {
	if err != nil {
		return err
	}
	writeJSON(c, http.StatusOK, struct {
		Members    int64          `json:"members"`
		Checkpoint checkpointJSON `json:"checkpoint"`
	}{done.Members, checkpointBody(done.Before)})
	return nil
}
