package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// tooMany is how answers of a service that limits its callers are counted.
const tooMany = "429"

const (
	identityAdvice = "start it with LEVELBOARD_RATE_LIMIT_IDENTITY=0 to measure the service and not the limit"
	limitAdvice    = "start it with LEVELBOARD_RATE_LIMIT_IDENTITY=0, and leave --key-limit out, to measure the service and not the limit"
)

// errLimited says that something was not read because the service limits its callers, who would have to wait for too long.
var errLimited = errors.New("the service limits its callers")

// limitPatience bounds how long the reading of the members may wait, in all, for a service that limits its callers.
const limitPatience = 2 * time.Minute

// unlimited is what the service says is the limit where there is none.
const unlimited = 1<<31 - 1

// limitOf is how many requests a minute an answer says that its caller may make; 0 when there is no limit, and when it does not say.
func limitOf(h http.Header) int {
	n, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	if err != nil || n < 1 || n >= unlimited {
		return 0
	}
	return n
}

// tellLimit says what the service's limit will do to the load, before anybody has waited for its numbers. When the service cannot be
// asked there is nothing to tell; what comes next will fail for the same reason, and say so.
func (b *bench) tellLimit(ctx context.Context) {
	r := b.newReader(1)
	defer r.close()
	if _, _, err := r.tryPage(ctx, 0, 1); err != nil || r.limit == 0 || b.staysBelow(r.limit) {
		return
	}
	b.Warn(fmt.Sprintf("the service allows one caller %s requests a minute, and the load is one: more are answered 429 and count as errors; %s", grouped(int64(r.limit)), identityAdvice))
}

// staysBelow reports whether a budget of so many requests, which is full when the load begins, is enough for all that it asks.
func (b *bench) staysBelow(limit int) bool {
	return b.Rate > 0 && float64(b.Rate+b.Scenario.writers)*b.Duration.Seconds() <= float64(limit)
}

// awaitLimit waits as long as the service says after a page that it refused, unless the pages that are left would take too long.
func (r *reader) awaitLimit(ctx context.Context, wait time.Duration) error {
	needed := wait
	if r.limit > 0 {
		needed = max(needed, time.Duration(float64(r.pages-r.read)/float64(r.limit)*float64(time.Minute)))
	}
	if needed > r.patience {
		return fmt.Errorf("%w, and to read the members' XP would take %s", errLimited, needed.Round(time.Second))
	}
	r.patience -= wait
	r.Progress(fmt.Sprintf("reading the members' XP: %s of %s pages, waiting for the service's limit", grouped(int64(r.read)), grouped(int64(r.pages))))
	if !r.sleep(ctx, wait) {
		return context.Cause(ctx)
	}
	return nil
}
