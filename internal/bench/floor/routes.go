package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// answer210 is what GET /get says: as long as a member with rank.
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

// routes are the floors: Gin with nothing before the handlers.
func routes(client *redis.Client) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/get", func(c *gin.Context) { c.Data(http.StatusOK, jsonType, answer210) })
	engine.PATCH("/patch", func(c *gin.Context) {
		if change, ok := readUpdate(c); ok {
			writeSummary(c, change.XP.Increment)
		}
	})
	engine.PATCH("/zincrby/:member", func(c *gin.Context) {
		change, ok := readUpdate(c)
		if !ok {
			return
		}
		xp, err := client.ZIncrBy(c.Request.Context(), boardKey, float64(change.XP.Increment), c.Param("member")).Result()
		if err != nil {
			c.Status(http.StatusServiceUnavailable)
			return
		}
		writeSummary(c, int64(xp))
	})
	engine.GET("/top100", func(c *gin.Context) {
		page, err := readTop(c.Request.Context(), client)
		if err != nil {
			c.Status(http.StatusServiceUnavailable)
			return
		}
		writeJSON(c, page)
	})
	return engine
}

const jsonType = "application/json; charset=utf-8"

func readUpdate(c *gin.Context) (change update, ok bool) {
	if err := json.NewDecoder(c.Request.Body).Decode(&change); err != nil {
		c.Status(http.StatusBadRequest)
		return change, false
	}
	return change, true
}

func writeSummary(c *gin.Context, xp int64) {
	var answer summary
	answer.Level.XP = xp
	writeJSON(c, answer)
}

func writeJSON(c *gin.Context, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		c.Status(http.StatusInternalServerError)
		return
	}
	c.Data(http.StatusOK, jsonType, text)
}
