package edge

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/shares"
	"levelboard/internal/usecase/importer"
)

const (
	// BodyTime is how long a body may take to arrive, from the start of its reading.
	BodyTime = 5 * time.Second
	// SlowTime bounds a request about all members of a guild.
	SlowTime = 5 * time.Minute
)

// Receive calls read, which reads the body, for at most within. Meanwhile the request lends its place, so that
// slow senders delay nobody else. The error is that of read, or shares.ErrFull if no place is free afterwards.
func Receive(c *gin.Context, within time.Duration, read func() error) error {
	place := Of(c).Place
	place.Lend()
	// net/http removes the deadline at the end of the body. In tests there may be no connection, and then no deadline.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(within))
	if err := read(); err != nil {
		return err
	}
	if !place.Resume() {
		return shares.ErrFull
	}
	return nil
}

// Slow gives a request SlowTime to be read and worked on, and RequestTime more to be answered. The
// new context keeps the old one's values but not its deadline. It still ends with the connection.
func Slow(c *gin.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), SlowTime)
	defer cancel()
	defer context.AfterFunc(Of(c).Connection, cancel)()
	c.Request = c.Request.WithContext(ctx)
	// In tests there may be no connection, and then there are no deadlines.
	control := http.NewResponseController(c.Writer)
	_ = control.SetReadDeadline(time.Now().Add(SlowTime))
	_ = control.SetWriteDeadline(time.Now().Add(SlowTime + RequestTime))
	c.Next()
}

// Export streams all members of a guild as a file. An error after the first
// byte ends the connection, so that no client takes a part for the whole.
func Export(c *gin.Context, log *slog.Logger, format importer.Format, g *guild.Guild, members iter.Seq2[importer.Exported, error]) error {
	Of(c).Place.Release()
	c.Header("Content-Type", format.MediaType())
	c.Header("Content-Disposition", `attachment; filename="levelboard-`+string(g.ID)+`.`+string(format)+`"`)
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return nil
	}
	if err := importer.Export(c.Writer, format, g.Curve, members); err != nil {
		log.WarnContext(c.Request.Context(), "an export was cut off; its client has only a part", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
