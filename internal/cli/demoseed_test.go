package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/app/demo"
	"levelboard/internal/config"
)

// A page of an earlier demo that is still open reads the board from the first moment on.
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
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
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

// readBoard reads a page until there is one, which must have that many members.
func readBoard(ctx context.Context, url string, members int) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil && ctx.Err() == nil {
			continue // the machine stood still while it sent the request
		}
		if err != nil {
			return err
		}
		var page struct{ Levels []struct{} }
		err = json.NewDecoder(response.Body).Decode(&page)
		response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK && len(page.Levels) != members {
			return fmt.Errorf("the first answer has %d members", len(page.Levels))
		}
		if err != nil || response.StatusCode == http.StatusOK {
			return err
		}
	}
}
