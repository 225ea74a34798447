package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/importer"
)

// exportMembers streams all members, with every change that was made before the request. An error after the first byte ends the connection, so
// that nobody takes what is there for all.
func (a *api) exportMembers(c *gin.Context) error {
	values, err := query(c)
	if err != nil {
		return err
	}
	gid, err := pathGuild(c)
	if err != nil {
		return err
	}
	format := importer.Format(values.Get("format"))
	if !format.Valid() {
		return fault.New(fault.Invalid, "The query parameter format must be json or csv.")
	}
	g, members, err := a.deps.Checkpoints.Export(c.Request.Context(), gid)
	if err != nil {
		return err
	}
	c.Header("Content-Type", format.MediaType())
	c.Header("Content-Disposition", `attachment; filename="levelboard-`+string(gid)+`.`+string(format)+`"`)
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return nil
	}
	if err := importer.Export(c.Writer, format, g.Curve, members); err != nil {
		a.log.WarnContext(c.Request.Context(), "an export was cut off; its client has only a part", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
