package httpapi

import (
	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/importer"
)

// exportMembers streams all members, with every change that was made before the request.
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
	return edge.Export(c, a.log, format, g, members)
}
