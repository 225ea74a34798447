package httpapi

import (
	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
)

// putDirectory keeps what a bot says of its guild.
func (a *api) putDirectory(c *gin.Context) error {
	r := a.read(c)
	r.guild()
	given, err := guild.ParseDescription(r.largeBody())
	r.keep(err)
	g := r.permitted()
	if r.err != nil {
		return r.err
	}
	return noContent(c, a.deps.Settings.Describe(r.ctx, g.ID, given))
}
