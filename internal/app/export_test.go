package app

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Reads lists the routes of the API and of the pages that can be read.
func (a *App) Reads() (paths []string) {
	for _, r := range a.api.Handler.(*gin.Engine).Routes() {
		if r.Method == http.MethodGet {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
