package signin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/domain/id"
)

func (s *Sessions) unconfirmed(r record) bool {
	now := s.o.Now()
	return !r.Local && s.o.Provider != nil && now.Sub(r.Confirmed) > ConfirmTime && now.Sub(r.Tried) > retryTime
}

// freshen asks the provider again. For each session one request at a time does so, since a refresh token may work only once; the
// other requests use the last answer. It continues when the browser disconnects, since otherwise the new token would be lost.
func (s *Sessions) freshen(ctx context.Context, mine secret, old record) (record, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdTime/2)
	defer cancel()
	claimed, err := s.store.ClaimSession(ctx, mine.hash(), holdTime)
	if err != nil {
		return old, fmt.Errorf("claim a session: %w", err)
	}
	if !claimed {
		return old, nil
	}
	r, err := s.read(ctx, mine) // another request may just have confirmed it
	if err != nil {
		return old, err
	}
	if s.unconfirmed(r) {
		if err := s.confirm(ctx, &r); errors.Is(err, ErrRefused) {
			s.o.Log.Debug("the provider no longer confirms a session; the session is ended", "error", err)
			if err := s.store.EndSession(ctx, r.User.ID, mine.hash()); err != nil {
				return old, fmt.Errorf("end a session: %w", err)
			}
			return old, ErrNoSession
		}
	}
	r.Seen = s.o.Now()
	sealed, err := mine.seal(r)
	if err == nil {
		err = s.store.ReplaceSession(ctx, mine.hash(), sealed, s.ttl(r))
	}
	if err != nil {
		return old, fmt.Errorf("keep a session: %w", err)
	}
	return r, nil
}

// confirm updates the record by the provider's answer. It fails only with ErrRefused,
// if the user withdrew access. If the provider does not respond, the record stays.
func (s *Sessions) confirm(ctx context.Context, r *record) error {
	r.Tried = s.o.Now()
	who, err := s.ask(ctx, r)
	refreshes.WithLabelValues(outcomeOf(err)).Inc()
	switch {
	case errors.Is(err, ErrRefused):
		return err
	case err != nil:
		s.o.Log.Warn("the sign-in provider could not be asked; rights end if this continues", "error", err)
	default:
		r.User, r.Guilds, r.Confirmed = who.User, who.Guilds, s.o.Now()
		s.tell(ctx, who)
	}
	return nil
}

// ask asks the provider for the identity, which must be the same user. It first renews a token that expires within a minute or is rejected.
func (s *Sessions) ask(ctx context.Context, r *record) (who Identity, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	ends := !r.Token.Expiry.IsZero() && r.Token.Expiry.Before(s.o.Now().Add(time.Minute))
	if !ends {
		who, err = s.o.Provider.identify(ctx, r.Token)
	}
	if ends || errors.Is(err, ErrRefused) {
		var token Token
		if token, err = s.o.Provider.renew(ctx, r.Token); err != nil {
			return who, err
		}
		r.Token = token // set it even if the next call fails: the old token may be used up
		who, err = s.o.Provider.identify(ctx, r.Token)
	}
	if err == nil && who.User.ID != r.User.ID {
		err = fmt.Errorf("the access is another user's now: %w", ErrRefused)
	}
	return who, err
}

// tell passes on which guilds the user manages now, if the whole answer could be read: a garbled answer must not cost a right.
func (s *Sessions) tell(ctx context.Context, who Identity) {
	if s.o.Refreshed == nil || !who.Complete {
		return
	}
	var managed []id.Guild
	for _, g := range (&Session{Guilds: who.Guilds}).Managed() {
		managed = append(managed, g.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	if err := s.o.Refreshed(ctx, who.User.ID, managed); err != nil {
		s.o.Log.WarnContext(ctx, "grants of a user in guilds that they no longer manage may stay in force until the next check", "error", err)
	}
}
