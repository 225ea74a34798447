package loadgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"levelboard/internal/pause"
)

const (
	// pageBytes bounds a page's answer: a hundred members with the longest names stay far below it.
	pageBytes = 4 << 20
	// readAttempts is how often a read is tried; the service may limit or be recovering from what the load did to it.
	readAttempts = 5
	// maxRetryAfter bounds how long the service may ask a read to wait.
	maxRetryAfter = 10 * time.Second
	// absent is the XP of a member that is not on the board.
	absent = -1
)

// board is the XP of each member of the run, or absent.
type board []int64

func (b board) missing() (n int) {
	for _, xp := range b {
		if xp == absent {
			n++
		}
	}
	return n
}

// readBoard reads the pages of the guilds' boards to the end. Nothing may be changing them.
func (b *bench) readBoard(ctx context.Context) (board, error) {
	xp := make(board, b.Members)
	for i := range xp {
		xp[i] = absent
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: answerTime}
	for guild := range b.guilds {
		if err := b.readGuild(ctx, client, guild, xp); err != nil {
			return nil, err
		}
	}
	return xp, nil
}

// readGuild notes the XP of the guild's members.
func (b *bench) readGuild(ctx context.Context, client *http.Client, guild int, xp board) error {
	for number := 1; ; number++ {
		page, err := b.readPage(ctx, client, guild, number)
		if err != nil {
			return fmt.Errorf("page %d: %w", number, err)
		}
		for _, entry := range page {
			if i := memberOf(entry.UserID, b.Members); i >= 0 {
				xp[i] = entry.XP
			}
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

type entry struct {
	UserID string `json:"userId"`
	XP     int64  `json:"xp"`
}

func (b *bench) readPage(ctx context.Context, client *http.Client, guild, number int) ([]entry, error) {
	address := b.URL + string(b.appendGuild([]byte("/v2/levels/"), guild)) + "?page=" + strconv.Itoa(number)
	for attempt := 1; ; attempt++ {
		page, wait, err := tryPage(ctx, client, pageRequest{address, b.keys[guild/grantsOfKey].secret})
		if err == nil || wait == 0 || attempt == readAttempts {
			return page, err
		}
		if !pause.For(ctx, wait) {
			return nil, ctx.Err()
		}
	}
}

type pageRequest struct{ address, key string }

// tryPage reads a page once. wait is how long to wait before another attempt, 0 when that is of no use.
func tryPage(ctx context.Context, client *http.Client, r pageRequest) (page []entry, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("X-Api-Key", r.key)
	response, err := client.Do(request)
	if err != nil {
		return nil, time.Second, errors.New("the service does not answer")
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, pageBytes))
	if err != nil {
		return nil, time.Second, errors.New("the service broke its answer off")
	}
	if response.StatusCode != http.StatusOK {
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			wait = min(time.Duration(seconds)*time.Second, maxRetryAfter)
		}
		return nil, wait, fmt.Errorf("the service answered %d", response.StatusCode)
	}
	var body struct {
		Levels []entry `json:"levels"`
	}
	if err := json.Unmarshal(content, &body); err != nil {
		return nil, 0, fmt.Errorf("the answer cannot be read: %w", err)
	}
	return body.Levels, 0, nil
}

// verify compares what was acknowledged with what the members gained. It goes on when the load was interrupted, which is
// when people most want to know.
func (b *bench) verify(ctx context.Context, l *ledger, before board) *Verification {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
	defer cancel()
	b.Progress("reading the members' XP")
	after, err := b.readBoard(ctx)
	if err != nil {
		return &Verification{Error: err.Error()}
	}
	v := l.compare(before, after)
	return &v
}

// verifyTime bounds the reading of the members after the load.
const verifyTime = 2 * time.Minute
