package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/app/demo"
	"levelboard/internal/config"
	"levelboard/internal/testing/testenv"
)

// A page that is still open from an earlier demo reads the board from the first moment.
func TestDemoStartsWhileItsBoardIsRead(t *testing.T) {
	cfg, _, err := config.Load([]string{
		"LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_DATA_DIR=" + t.TempDir(), "LEVELBOARD_RATE_LIMIT_IDENTITY=0",
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	rows := demo.Members(3000, 1, now)
	err = service{cfg: cfg, log: newLogger(io.Discard, cfg)}.run(t.Context(), func(ctx context.Context, a *app.App) error {
		ctx, cancel := context.WithTimeout(ctx, testenv.Patience)
		defer cancel()
		read := make(chan error, 1)
		go func() { read <- readBoard(ctx, a.URL()+"/v2/levels/"+demo.Vanity+"?page=30", 100) }()
		if _, err := seed(ctx, a, rows, now); err != nil {
			return err
		}
		return <-read
	})
	if err != nil {
		t.Error(err)
	}
}

// readBoard reads a page until it gets one, which must have this many members.
func readBoard(ctx context.Context, url string, members int) error {
	for {
		answer, err := testenv.Send(ctx, nil, "GET", url, "")
		if err != nil && ctx.Err() == nil {
			continue // the machine was too busy to send it
		}
		if err != nil {
			return err
		}
		var page struct{ Levels []struct{} }
		err = json.Unmarshal(answer.Body, &page)
		if err == nil && answer.Status == 200 && len(page.Levels) != members {
			return fmt.Errorf("the first answer has %d members, want %d", len(page.Levels), members)
		}
		if err != nil || answer.Status == 200 {
			return err
		}
	}
}
