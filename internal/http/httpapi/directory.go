package httpapi

import (
	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// putDirectory keeps what a bot says of its guild.
func (a *api) putDirectory(c *gin.Context) error {
	gid, err := pathID[id.Guild](c, "guildId")
	if err != nil {
		return err
	}
	if _, err := query(c); err != nil {
		return err
	}
	sent, err := a.largeBody(c, gid)
	if err != nil {
		return err
	}
	given, err := guild.ParseDescription(sent)
	if err != nil {
		return err
	}
	g, err := a.permitted(c, gid)
	if err != nil {
		return err
	}
	return noContent(c, a.deps.Directories.Describe(c.Request.Context(), g.ID, given))
}
