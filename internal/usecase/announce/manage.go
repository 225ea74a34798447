package announce

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// NewSigningSecret returns 32 random bytes, which sign the posts of a webhook.
func NewSigningSecret() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// Status is how far an announcement is, as managers and operators read it.
type Status struct {
	ID         string     `json:"id"`
	State      string     `json:"state"` // on or off
	Reason     *string    `json:"reason"`
	LastSentAt *time.Time `json:"lastSentAt"`
	LastError  *string    `json:"lastError"`
}

// Statuses returns the status of each announcement of a guild, in their order. Its errors are faults, as are those of the other methods for managers.
func (a *Announcer) Statuses(ctx context.Context, g *guild.Guild) ([]Status, error) {
	list := make([]Status, len(g.Announcements))
	if len(list) == 0 {
		return list, nil
	}
	found, err := a.Archive.AnnouncementStates(ctx, []id.Guild{g.ID})
	if err != nil {
		return nil, fault.Down("read announcements", err)
	}
	for i, one := range g.Announcements {
		list[i] = Status{ID: one.ID, State: "on"}
		for _, s := range found {
			if s.ID == one.ID {
				list[i].fill(s)
			}
		}
	}
	return list, nil
}

func (s *Status) fill(from State) {
	if from.Off != "" {
		s.State, s.Reason = "off", &from.Off
	}
	if !from.LastSent.IsZero() {
		s.LastSentAt = &from.LastSent
	}
	if from.LastError != "" {
		s.LastError = &from.LastError
	}
}

// NewSecret makes a new signing secret of a webhook and returns it; it is shown nowhere else. The one before ends at once.
func (a *Announcer) NewSecret(ctx context.Context, k Key) (string, error) {
	_, settings, err := a.find(ctx, k)
	if err != nil {
		return "", err
	}
	if settings.Kind != announcement.Webhook {
		return "", fault.New(fault.Conflict, "Only announcements of the kind webhook are signed, and this one is of the kind %s.", settings.Kind)
	}
	secret := NewSigningSecret()
	err = a.Archive.SetAnnouncementSecret(ctx, k, secret)
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), asFault("write a signing secret", err)
}

// SwitchOn makes an announcement that is off begin again from now. Events of the time between are not announced.
func (a *Announcer) SwitchOn(ctx context.Context, k Key) error {
	if _, _, err := a.find(ctx, k); err != nil {
		return err
	}
	return asFault("switch an announcement on", a.Archive.SwitchAnnouncementOn(ctx, k))
}

// Tested is the status that a webhook answered to a test, or what went wrong in words.
type Tested struct {
	Status int    `json:"status,omitzero"`
	Error  string `json:"error,omitzero"`
}

// Test posts a sample once, or edits a board now. The announcement's state stays as it is.
func (a *Announcer) Test(ctx context.Context, k Key) (Tested, error) {
	g, settings, err := a.find(ctx, k)
	if err != nil {
		return Tested{}, err
	}
	if settings.Kind == announcement.Bot {
		return Tested{}, fault.New(fault.Conflict, "Announcements of the kind bot are posted by the bot, so there is nothing to test here.")
	}
	states, err := a.Archive.AnnouncementStates(ctx, []id.Guild{k.Guild})
	i := slices.IndexFunc(states, func(s State) bool { return s.Key == k })
	if err != nil || i < 0 {
		return Tested{}, asFault("read an announcement", errors.Join(err, ErrUnknown))
	}
	d := &delivery{Announcer: a, State: states[i], guild: g, settings: settings}
	p, err := d.sample(ctx)
	if err != nil || p.text == "" {
		return Tested{Error: "Nothing was sent: the text of the sample comes out empty, or no level-up meets the conditions."}, err
	}
	answer, err := d.try(ctx, p)
	switch {
	case ctx.Err() != nil:
		return Tested{}, fault.Down("test an announcement", ctx.Err())
	case err != nil:
		return Tested{Error: problem(answer, err)}, nil
	case problem(answer, nil) == "" && d.Kind == announcement.Board:
		err = asFault("note a board's message", a.Archive.NoteBoardMessage(ctx, d.State))
	}
	return Tested{Status: answer.Status}, err
}

// Preview is what a test of settings posts; it is empty when nothing would be posted.
func (a *Announcer) Preview(ctx context.Context, g *guild.Guild, settings *announcement.Announcement) (string, error) {
	d := &delivery{Announcer: a, State: State{Key: Key{g.ID, settings.ID}, Kind: settings.Kind}, guild: g, settings: settings}
	p, err := d.sample(ctx)
	return p.text, err
}

func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrStale):
		return fault.New(fault.NotFound, "This guild has no announcement with this id. Read the ids in its settings.")
	}
	return fault.Down(op, fmt.Errorf("announcements: %w", err))
}
