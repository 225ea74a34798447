// Package signin authenticates users. It sends them to an OAuth 2.0 provider (authorization code with PKCE),
// learns who they are and which guilds they are in, own or administer, and remembers that in sessions.
//
// A session is a secret of 256 random bits, which only the browser has. The store keeps the session under the secret's SHA-256,
// sealed with a key derived from the secret. So the stored data neither opens a session nor shows the provider's tokens.
//
// The package knows no pages and no cookies (package web does), and no store: it declares the one that it needs.
package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"levelboard/internal/domain/id"
)

// The times of a session.
const (
	// IdleTime is how long a session may be unused before it ends.
	IdleTime = 7 * 24 * time.Hour
	// LifeTime is the maximum age of a session.
	LifeTime = 30 * 24 * time.Hour
	// ConfirmTime is the age of the provider's answer at which the provider is asked again.
	ConfirmTime = 5 * time.Minute
	// RightsTime is the age at which the answer no longer gives rights, if the provider could not be asked again.
	RightsTime = 15 * time.Minute
	// retryTime is the pause after the provider could not be asked.
	retryTime = time.Minute
	// seenTime is the resolution of a session's last use.
	seenTime = time.Hour
	// holdTime is how long one replica may claim a session to change it. It is longer than asking the provider takes.
	holdTime = 30 * time.Second
	// askTime bounds all requests to the provider while a user waits for a page.
	askTime = 6 * time.Second
	// tellTime bounds the removal of lost rights while a user waits for a page.
	tellTime = 3 * time.Second
	// sessionsOfUser is the maximum number of a user's sessions. One more ends the oldest.
	sessionsOfUser = 20
	// entering is how many users may sign in at the same time, each with a connection
	// to the provider. The other half of the connections is for confirming sessions.
	entering = providerConns / 2
)

// ErrBusy says that too many users are signing in at the moment. The provider was not asked, and the code is still valid.
var ErrBusy = errors.New("too many sign in at the same time")

// Local is a user who may sign in without a provider, for the demo.
type Local struct {
	User   User
	Guilds []Guild
	About  string // a line about the user, for the page where one chooses
}

// Options configure Sessions. Without a Provider and Locals nobody can sign in.
type Options struct {
	Provider *Provider
	Locals   []Local // for the demo only: any visitor can sign in as any of them
	// Refreshed, if set, is called with the complete list of guilds that a user manages, after
	// the provider has sent it. If it fails, that is logged, and the next refresh calls it again.
	Refreshed func(ctx context.Context, user id.User, managed []id.Guild) error
	Log       *slog.Logger
	Now       func() time.Time
}

// Sessions signs users in and out, and finds the user of a request. It is safe for concurrent use.
type Sessions struct {
	store    Store
	o        Options
	entering *semaphore.Weighted // held by each sign-in that asks the provider
}

// NewSessions returns the sessions in a store.
func NewSessions(store Store, o Options) *Sessions {
	return &Sessions{store: store, o: o, entering: semaphore.NewWeighted(entering)}
}

// Address returns the provider's address for a sign-in, or "" without a provider.
func (s *Sessions) Address(state, verifier string) string {
	if s.o.Provider == nil {
		return ""
	}
	return s.o.Provider.address(state, verifier)
}

// Locals lists the users who may sign in without a provider.
func (s *Sessions) Locals() []Local { return s.o.Locals }

// Enter begins a session with the provider's code and returns its secret. It
// returns ErrRefused for an invalid code, and ErrBusy when too many users sign in.
func (s *Sessions) Enter(ctx context.Context, code, verifier string) (secret string, err error) {
	if s.o.Provider == nil {
		return "", fmt.Errorf("sign in without a provider: %w", ErrRefused)
	}
	token, who, err := s.redeem(ctx, code, verifier)
	if err != nil {
		signIns.WithLabelValues(outcomeOf(err)).Inc()
		return "", err
	}
	s.tell(ctx, who)
	now := s.o.Now()
	return s.begin(ctx, record{User: who.User, Guilds: who.Guilds, Token: token, Started: now, Seen: now, Confirmed: now, Tried: now})
}

// redeem finds the user of a code.
func (s *Sessions) redeem(ctx context.Context, code, verifier string) (Token, Identity, error) {
	if !s.entering.TryAcquire(1) {
		return Token{}, Identity{}, ErrBusy
	}
	defer s.entering.Release(1)
	token, err := s.o.Provider.redeem(ctx, code, verifier)
	if err != nil {
		return Token{}, Identity{}, err
	}
	who, err := s.o.Provider.identify(ctx, token)
	return token, who, err
}

// Denied counts a sign-in that came back without a code, and returns its error: ErrRefused if the user did not allow it.
func (s *Sessions) Denied(errorCode string) error {
	err := denial(errorCode)
	signIns.WithLabelValues(outcomeOf(err)).Inc()
	return err
}

// EnterLocally begins a session for Locals[n]. It returns ErrRefused if there is no such user.
func (s *Sessions) EnterLocally(ctx context.Context, n int) (secret string, err error) {
	if n < 0 || n >= len(s.o.Locals) {
		return "", fmt.Errorf("sign in locally as number %d: %w", n, ErrRefused)
	}
	who, now := s.o.Locals[n], s.o.Now()
	return s.begin(ctx, record{User: who.User, Guilds: who.Guilds, Local: true, Started: now, Seen: now, Confirmed: now, Tried: now})
}

func (s *Sessions) begin(ctx context.Context, r record) (string, error) {
	fresh := newSecret()
	sealed, err := fresh.seal(r)
	if err != nil {
		return "", err
	}
	kept := Kept{Hash: fresh.hash(), User: r.User.ID, Sealed: sealed, Ends: r.Started.Add(LifeTime)}
	if err := s.store.PutSession(ctx, kept, s.ttl(r), PutOptions{Limit: sessionsOfUser, Now: r.Started}); err != nil {
		signIns.WithLabelValues(failed).Inc()
		return "", fmt.Errorf("keep a session: %w", err)
	}
	signIns.WithLabelValues(ok).Inc()
	return fresh.String(), nil
}

// ttl is how long the store must keep a session: IdleTime, and seenTime more, since the last use is only known to that precision.
func (s *Sessions) ttl(r record) time.Duration {
	return min(IdleTime+seenTime, max(r.Started.Add(LifeTime).Sub(s.o.Now()), time.Millisecond))
}

// Find returns the session of a secret, or ErrNoSession if there is none. It asks the
// provider again about older sessions. If it cannot, the user's rights end after RightsTime.
func (s *Sessions) Find(ctx context.Context, text string) (*Session, error) {
	mine, ok := parseSecret(text)
	if !ok {
		return nil, ErrNoSession
	}
	r, err := s.read(ctx, mine)
	if err != nil {
		return nil, err
	}
	if s.o.Now().Sub(r.Seen) > seenTime || s.unconfirmed(r) {
		if r, err = s.freshen(ctx, mine, r); err != nil {
			return nil, err
		}
	}
	found := &Session{User: r.User, Guilds: r.Guilds}
	if !r.Local && s.o.Now().Sub(r.Confirmed) > RightsTime {
		found.Guilds, found.Unconfirmed = nil, true
	}
	return found, nil
}

// read returns the record of a session that has not ended. A session that cannot be opened counts as none.
func (s *Sessions) read(ctx context.Context, mine secret) (record, error) {
	sealed, err := s.store.Session(ctx, mine.hash())
	if err != nil {
		return record{}, fmt.Errorf("find a session: %w", err)
	}
	r, err := mine.open(sealed)
	if err != nil {
		s.o.Log.Warn("a session in the store cannot be opened; its user has to sign in again", "error", err)
		return record{}, ErrNoSession
	}
	now := s.o.Now()
	if now.Sub(r.Seen) > IdleTime || now.Sub(r.Started) > LifeTime || r.Local && len(s.o.Locals) == 0 {
		if err := s.store.EndSession(ctx, r.User.ID, mine.hash()); err != nil {
			return record{}, fmt.Errorf("end an old session: %w", err)
		}
		return record{}, ErrNoSession
	}
	return r, nil
}

// End ends the session. It is no error if there is none.
func (s *Sessions) End(ctx context.Context, text string) error {
	return s.end(ctx, text, func(r record, h Hash) error { return s.store.EndSession(ctx, r.User.ID, h) })
}

// EndAll ends every session of this session's user. It is no error if there is none.
func (s *Sessions) EndAll(ctx context.Context, text string) error {
	return s.end(ctx, text, func(r record, _ Hash) error { return s.store.EndSessions(ctx, r.User.ID) })
}

func (s *Sessions) end(ctx context.Context, text string, how func(record, Hash) error) error {
	mine, ok := parseSecret(text)
	if !ok {
		return nil
	}
	r, err := s.read(ctx, mine)
	if errors.Is(err, ErrNoSession) {
		return nil
	}
	if err == nil {
		err = how(r, mine.hash())
	}
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// ErrNoSession says that the session does not exist or has ended.
var ErrNoSession = errors.New("there is no such session")

// Hash is the SHA-256 of a session's secret. Stores keep the session under it.
type Hash [32]byte

// Kept is a session in a store.
type Kept struct {
	Hash   Hash
	User   id.User
	Sealed []byte
	Ends   time.Time // when it ends at the latest
}

// Store keeps sessions, for all replicas. Each method may be repeated when its outcome is unknown.
type Store interface {
	// PutSession stores a new session for ttl (milliseconds). It keeps at most o.Limit
	// sessions of the user, those that end last; o.Now decides which have ended.
	PutSession(ctx context.Context, s Kept, ttl time.Duration, o PutOptions) error
	// Session returns the sealed record, or ErrNoSession.
	Session(ctx context.Context, h Hash) ([]byte, error)
	// ClaimSession lets one caller among all replicas change the session, until that caller calls ReplaceSession or hold has passed.
	ClaimSession(ctx context.Context, h Hash, hold time.Duration) (bool, error)
	// ReplaceSession replaces the record, keeps it for ttl, and releases the claim. It returns ErrNoSession if the session was ended meanwhile.
	ReplaceSession(ctx context.Context, h Hash, sealed []byte, ttl time.Duration) error
	// EndSession ends one session of the user, if it exists.
	EndSession(ctx context.Context, user id.User, h Hash) error
	// EndSessions ends all current sessions of the user.
	EndSessions(ctx context.Context, user id.User) error
}

// PutOptions bound the sessions of a user that PutSession keeps.
type PutOptions struct {
	Limit int
	Now   time.Time
}
