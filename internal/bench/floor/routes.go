package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// answer210 is what /get says: as long as a member with rank.
var answer210 = func() []byte {
	const begin, end = `{"level":{"lastUpdated":"2026-01-01T00:00:00.000Z","level":10,"messageCount":123,"rank":4567,"xp":4150},"user":{"username":"`, `"}}`
	return []byte(begin + strings.Repeat("x", 210-len(begin)-len(end)) + end)
}()

// update is the body of PATCH, with as little as decodes it.
type update struct {
	XP struct {
		Increment int64 `json:"increment"`
	} `json:"xp"`
}

// summary is what PATCH answers.
type summary struct {
	Level struct {
		Level        int64 `json:"level"`
		MessageCount int64 `json:"messageCount"`
		XP           int64 `json:"xp"`
	} `json:"level"`
}

// routes are the floors, each under a name of its own and then the API's paths: Gin with nothing before the handlers.
func routes(client *redis.Client) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/get/*any", func(c *gin.Context) { c.Data(http.StatusOK, jsonType, answer210) })
	engine.PATCH("/zincrby/v2/levels/:guild/users/:user", func(c *gin.Context) {
		var change update
		if err := json.NewDecoder(c.Request.Body).Decode(&change); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		xp, err := client.ZIncrBy(c.Request.Context(), boardKey, float64(change.XP.Increment), c.Param("user")).Result()
		var answer summary
		answer.Level.XP = int64(xp)
		write(c, answer, err)
	})
	engine.GET("/top100/v2/levels/:guild", func(c *gin.Context) {
		page, err := readTop(c.Request.Context(), client)
		write(c, page, err)
	})
	return engine
}

const jsonType = "application/json; charset=utf-8"

// write answers v, or 503 after an error.
func write(c *gin.Context, v any, err error) {
	text, encoding := json.Marshal(v)
	if err != nil || encoding != nil {
		c.Status(http.StatusServiceUnavailable)
		return
	}
	c.Data(http.StatusOK, jsonType, text)
}
