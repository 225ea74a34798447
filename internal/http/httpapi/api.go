package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/cors"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/http/card"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/signin"
)

// Keys finds the key that a presented secret belongs to: an Unauthenticated fault when it is not valid, an Unavailable one
// when that cannot be known at the moment.
type Keys interface {
	// InMemory reports whether Authenticate asks no store.
	InMemory(presented string) bool
	Authenticate(ctx context.Context, presented string) (*apikey.Key, error)
	// Recheck is Authenticate again for a request that continues.
	Recheck(ctx context.Context, presented string) (*apikey.Key, error)
}

// Limiter charges the budgets of callers. Peek charges nothing.
type Limiter interface {
	edge.Limiter
	Peek(ctx context.Context, budget ratelimit.Budget) (ratelimit.Decision, error)
}

// Board holds the use cases on members (package leaderboard).
type Board interface {
	Member(ctx context.Context, g *guild.Guild, user id.User) (leaderboard.Ranked, error)
	Page(ctx context.Context, g *guild.Guild, number int64) (leaderboard.Page, error)
	Standings(ctx context.Context, g *guild.Guild, p period.Period, offset, limit int64) (leaderboard.Standings, error)
	View(ctx context.Context, g *guild.Guild, look leaderboard.Look) (leaderboard.View, error)
	Version(ctx context.Context, g *guild.Guild) (leaderboard.Version, error)
	Create(ctx context.Context, g *guild.Guild, user id.User, c leaderboard.Creation) (leaderboard.Outcome, error)
	Change(ctx context.Context, g *guild.Guild, user id.User, c leaderboard.Change) (leaderboard.Outcome, error)
	Delete(ctx context.Context, g *guild.Guild, user id.User, once leaderboard.Once) (replayed bool, err error)
	Put(ctx context.Context, g *guild.Guild, p leaderboard.Puts) (done []leaderboard.Done, replayed bool, err error)
	SetPresence(ctx context.Context, g *guild.Guild, p leaderboard.Presence) (leaderboard.Moved, error)
	Award(ctx context.Context, g *guild.Guild, messages []leaderboard.Message, once leaderboard.Once) (gains []leaderboard.Gain, replayed bool, err error)
}

// Pages are the pages for people (package web), on the same router, so that they are measured, bounded in time and given
// their ids like everything else.
type Pages interface {
	// Routes adds the pages' routes.
	Routes(r gin.IRouter)
	// Refuse answers a request at an address that has no route, or not for its method.
	Refuse(c *gin.Context, f *fault.Error)
	// Session returns who is signed in in the browser that asks; nil when nobody is.
	Session(c *gin.Context) (*signin.Session, error)
}

// Deps is what the API is built on.
type Deps struct {
	Keys          Keys
	Limiter       Limiter
	Guilds        edge.Guilds
	Board         Board
	Finder        *leaderboard.Finder
	Settings      *guilds.Guilds
	APIKeys       *keys.Keys // for the operator
	Checkpoints   *checkpoints.Checkpoints
	Audit         *audit.Log
	Users         *erasure.Eraser
	Hiding        *hiding.Hiding
	Events        *events.Feed
	Periods       *periods.Boards
	Pages         Pages       // nil for none
	Fonts         *card.Fonts // for PNG cards
	Announcements *announce.Announcer

	AdminToken     string        // without one /admin is off
	KeyLimit       int           // requests a minute of a key without its own limit; 0 is no limit
	IdentityLimit  int           // requests a minute of an owner or an address; 0 is no limit
	TrustedProxies []string      // addresses and networks whose X-Forwarded-For is believed
	CORSOrigins    []string      // origins that may GET /v2; "*" is all
	inFlight       int           // requests to /v2 that are worked on at the same time; 0 is 2048
	KeepAlive      time.Duration // after how long a silent stream gets a sign of life; 0 is 15 s
	OpenAPI        []byte        // what /v2/openapi.json answers
	// Patience is how long a request to /v2 waits for a live store that is silent (pause.WithPatience); 0 leaves it to
	// the store.
	Patience time.Duration
	// Tracer makes spans of requests and of what they are charged; nil is off.
	Tracer trace.Tracer
	Log    *slog.Logger
	Now    func() time.Time
}

// api is the handler. It is safe for concurrent use.
type api struct {
	deps   Deps
	log    *slog.Logger
	pages  *pageCache
	packer edge.Packer
	reads  pageReads
	cards  *card.Drawing
	cors   *cors.Cors

	packedOpenAPI func() []byte // the description, gzipped

	lookups       *shares.Pool        // the requests to /v2 whose caller is looked up in a store, by address
	inFlight      *shares.Pool        // those that are worked on, by identity or address
	largeBodies   *shares.Pool        // those of them that have a large body, by the owner of the key
	refusedBodies *shares.Pool        // in place of that where the key may not do what is asked for
	streams       *shares.Pool        // streams that are open, by the owner of the key
	encoding      *semaphore.Weighted // the turn of a stream to encode events
	answers       *shares.Pool        // bytes that are encoded and not taken yet, by identity or address
}

// New builds the handler. It fails when a trusted proxy is not an address or a network.
func New(deps Deps) (http.Handler, error) {
	deps.KeepAlive = cmp.Or(deps.KeepAlive, defaultKeepAlive)
	if deps.Tracer != nil {
		deps.Limiter = tracedLimiter{deps.Limiter, deps.Tracer}
	}
	inFlight := cmp.Or(deps.inFlight, defaultInFlight)
	a := &api{
		deps: deps, log: deps.Log, pages: newPageCache(pageMemory), cards: card.NewDrawing(), cors: newCORS(deps.CORSOrigins),
		lookups:       shares.New(mostLookups, lookupsOfAddress),
		inFlight:      shares.New(inFlight, max(1, inFlight/shareOfOne)),
		largeBodies:   shares.New(largeBodies, largeBodiesOfOwner),
		refusedBodies: shares.New(refusedBodies, refusedBodies),
		streams:       shares.New(mostStreams, streamsOfOwner),
		encoding:      semaphore.NewWeighted(1),
		answers:       shares.New(answerBytes, answerBytesOfOne),
	}
	a.packedOpenAPI = sync.OnceValue(func() []byte { return a.packer.Pack(a.deps.OpenAPI) }) // for the first client that takes gzip
	return a.routes()
}
