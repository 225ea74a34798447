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
)

const (
	// pageBytes bounds a page's answer: a hundred members with the longest names stay far below it.
	pageBytes = 4 << 20
	// readAttempts is how often a read is tried; the service may be recovering from what the load did to it.
	readAttempts = 5
	// maxRetryAfter bounds how long a service that cannot answer may have a read wait; limitPatience is for one that will not.
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

// reader reads pages of the boards with the keys that are not the load's. It is not for concurrent use.
type reader struct {
	*bench
	transport   *http.Transport
	client      *http.Client
	pages, read int           // how many are to be read in all, and were until now
	patience    time.Duration // for how long it may still wait because the service limits its callers
	limit       int           // as limitOf says of the last answer
}

func (b *bench) newReader(pages int) *reader {
	transport := &http.Transport{}
	return &reader{
		bench: b, transport: transport, client: &http.Client{Transport: transport, Timeout: answerTime}, pages: pages, patience: limitPatience,
	}
}

func (r *reader) close() { r.transport.CloseIdleConnections() }

// pagesOf is how many pages so many members fill.
func pagesOf(members int) int { return (members + pageSize - 1) / pageSize }

// readBoard reads the pages of the guilds' boards to the end. Nothing may be changing them. The error is errLimited when that would
// take too long because the service limits its callers.
func (b *bench) readBoard(ctx context.Context) (board, error) {
	xp := make(board, b.Members)
	for i := range xp {
		xp[i] = absent
	}
	pages := 0
	for guild := range b.guilds {
		pages += b.membersOf(guild)/pageSize + 1 // a page that is not full is the last
	}
	r := b.newReader(pages)
	defer r.close()
	for guild := range b.guilds {
		if err := r.readGuild(ctx, guild, xp); err != nil {
			return nil, err
		}
	}
	return xp, nil
}

// readGuild notes the XP of the guild's members.
func (r *reader) readGuild(ctx context.Context, guild int, xp board) error {
	for number := 1; ; number++ {
		page, err := r.readPage(ctx, guild, number)
		if err != nil {
			return err
		}
		for _, entry := range page {
			if i := memberOf(entry.UserID, r.Members); i >= 0 {
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

// readPage reads a page, and waits for it where the service asks for that.
func (r *reader) readPage(ctx context.Context, guild, number int) ([]entry, error) {
	for attempt := 1; ; {
		page, wait, err := r.tryPage(ctx, guild, number)
		switch {
		case err == nil:
			r.read++
			return page, nil
		case errors.Is(err, errLimited):
			if err := r.awaitLimit(ctx, wait); err != nil {
				return nil, err
			}
			continue // that the limit is kept says nothing about how the service is
		case wait == 0 || attempt == readAttempts:
			return nil, fmt.Errorf("page %d: %w", number, err)
		}
		attempt++
		if !r.sleep(ctx, min(wait, maxRetryAfter)) {
			return nil, ctx.Err()
		}
	}
}

// tryPage reads a page once. wait is how long to wait before another attempt, 0 when that is of no use; it is not 0 with errLimited.
func (r *reader) tryPage(ctx context.Context, guild, number int) (page []entry, wait time.Duration, err error) {
	address := r.URL + string(r.appendGuild([]byte("/v2/levels/"), guild)) + "?page=" + strconv.Itoa(number)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("X-Api-Key", r.setupKeys[guild/grantsOfKey].secret)
	response, err := r.client.Do(request)
	if err != nil {
		return nil, time.Second, errors.New("the service does not answer")
	}
	defer response.Body.Close()
	r.limit = limitOf(response.Header)
	content, err := io.ReadAll(io.LimitReader(response.Body, pageBytes))
	if err != nil {
		return nil, time.Second, errors.New("the service broke its answer off")
	}
	if response.StatusCode != http.StatusOK {
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			wait = time.Duration(seconds) * time.Second
		}
		if response.StatusCode == http.StatusTooManyRequests {
			return nil, max(wait, time.Second), errLimited
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

// verifies reports whether the members are read before and after the load.
func (b *bench) verifies() bool { return b.Verify && b.Scenario.Changes() }

// readBefore reads the boards before the load: nil when nothing is to be verified, and, with what is then to be said of it, when
// nothing can be. A load can be measured all the same.
func (b *bench) readBefore(ctx context.Context) (board, *Verification, error) {
	if !b.verifies() {
		return nil, nil, nil
	}
	before, err := b.readBoard(ctx)
	if v := unverified(err); v != nil {
		b.Warn(v.sentence())
		return nil, v, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the members before the load: %w", err)
	}
	if n := before.missing(); n > 0 {
		return nil, nil, fmt.Errorf("%d members are not on the board although they were created", n)
	}
	return before, nil, nil
}

// verify compares what was acknowledged with what the members gained. It goes on when the load was interrupted, which is
// when people most want to know.
func (b *bench) verify(ctx context.Context, l *ledger, before board) *Verification {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime+limitPatience)
	defer cancel()
	b.Progress("reading the members' XP")
	after, err := b.readBoard(ctx)
	if v := unverified(err); v != nil {
		return v
	}
	if err != nil {
		return &Verification{Error: err.Error()}
	}
	v := l.compare(before, after)
	return &v
}

// unverified is the verification that a limit of the service has prevented; nil when err is something else.
func unverified(err error) *Verification {
	if !errors.Is(err, errLimited) {
		return nil
	}
	return &Verification{Limited: true, Error: err.Error()}
}

// verifyTime bounds the reading of the members after the load, but for what it waits for the service's limit.
const verifyTime = 2 * time.Minute
