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
	r := a.read(c)
	gid := r.adminGuild()
	format := importer.Format(r.query.Get("format"))
	if !format.Valid() {
		r.keep(fault.New(fault.Invalid, "The query parameter format must be json or csv."))
	}
	if r.err != nil {
		return r.err
	}
	g, members, err := a.deps.Checkpoints.Export(r.ctx, gid)
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
