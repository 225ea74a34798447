package httpapi

import (
	"iter"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/snapshot"
)

var exportTypes = map[importer.Format]string{importer.FormatJSON: jsonType, importer.FormatCSV: "text/csv; charset=utf-8"}

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
	mime, known := exportTypes[format]
	if !known {
		return fault.New(fault.Invalid, "The query parameter format must be json or csv.")
	}
	g, members, err := a.deps.Checkpoints.Export(c.Request.Context(), gid)
	if err != nil {
		return err
	}
	c.Header("Content-Type", mime)
	c.Header("Content-Disposition", `attachment; filename="levelboard-`+string(gid)+`.`+string(format)+`"`)
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return nil
	}
	if err := importer.Export(c.Writer, format, g.Curve, exported(members)); err != nil {
		a.log.WarnContext(c.Request.Context(), "an export broke off; its client has a part of it", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// exported has the members as an export needs them.
func exported(members iter.Seq2[snapshot.Row, error]) iter.Seq2[importer.Exported, error] {
	return func(yield func(importer.Exported, error) bool) {
		for row, err := range members {
			if !yield(importer.Exported{Member: row.Member, Present: !row.Absent}, err) {
				return
			}
		}
	}
}
