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

// Keys finds the key of a presented secret. It returns an Unauthenticated fault
// for an invalid one, and an Unavailable one when that cannot be decided now.
type Keys interface {
	// InMemory reports whether Authenticate needs no store.
	InMemory(presented string) bool
	Authenticate(ctx context.Context, presented string) (*apikey.Key, error)
	// Recheck repeats Authenticate for a request that is still running.
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

// Pages are the pages for people (package web). They are on the same router,
// so that they are measured, bounded in time and given ids like all requests.
type Pages interface {
	// Routes adds the pages' routes.
	Routes(r gin.IRouter)
	// Refuse answers a request to an address without a route, or without one for its method.
	Refuse(c *gin.Context, f *fault.Error)
	// Session returns the session of the browser's user, or nil if nobody is signed in.
	Session(c *gin.Context) (*signin.Session, error)
}

// Deps are the parts that the API is built on.
type Deps struct {
	Keys          Keys
	Limiter       Limiter
	Guilds        edge.Guilds
	Board         Board
	Finder        *leaderboard.Finder
	Settings      *guilds.Guilds
	APIKeys       *keys.Keys // for the operator's routes
	Checkpoints   *checkpoints.Checkpoints
	Audit         *audit.Log
	Users         *erasure.Eraser
	Hiding        *hiding.Hiding
	Events        *events.Feed
	Periods       *periods.Boards
	Pages         Pages       // nil: there are none
	Fonts         *card.Fonts // for PNG cards
	Announcements *announce.Announcer

	AdminToken     string        // empty: /admin is off
	KeyLimit       int           // requests a minute of a key without a limit of its own; 0: no limit
	IdentityLimit  int           // requests a minute of an owner or an address; 0: no limit
	TrustedProxies []string      // addresses and networks whose X-Forwarded-For is trusted
	CORSOrigins    []string      // origins that may GET /v2; "*" means all
	inFlight       int           // maximum number of running requests to /v2; 0: 2048
	KeepAlive      time.Duration // how long a stream is silent before it gets a keep-alive; 0: 15 s
	OpenAPI        []byte        // the answer of /v2/openapi.json
	// Patience is how long a request to /v2 waits for a silent live store (pause.WithPatience); with 0 the store decides.
	Patience time.Duration
	// Tracer makes spans of requests and of their charges; nil: off.
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

	packedOpenAPI func() []byte // the API's description, gzipped

	lookups       *shares.Pool        // requests to /v2 whose caller is looked up in a store, by address
	inFlight      *shares.Pool        // running requests to /v2, by identity or address
	largeBodies   *shares.Pool        // those of them with a large body, by the owner of the key
	refusedBodies *shares.Pool        // in place of largeBodies if the key may not do what it asks for
	streams       *shares.Pool        // open streams, by the owner of the key
	encoding      *semaphore.Weighted // held by a stream while it encodes events
	answers       *shares.Pool        // encoded bytes that their clients have not read, by identity or address
}

// New builds the handler. It fails when a trusted proxy is neither an address nor a network.
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
	a.packedOpenAPI = sync.OnceValue(func() []byte { return a.packer.Pack(a.deps.OpenAPI) }) // packed for the first client that accepts gzip
	return a.routes()
}
