package announce

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
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

// Status is the progress of an announcement for managers and operators.
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
	for i, one := range g.Announcements {
		list[i] = Status{ID: one.ID, State: "on"}
		for _, s := range found {
			if s.ID == one.ID {
				list[i].Reason, list[i].LastSentAt, list[i].LastError = orNil(s.Off), orNil(s.LastSent), orNil(s.LastError)
			}
		}
		if list[i].Reason != nil {
			list[i].State = "off"
		}
	}
	return list, orDown("read announcements", err)
}

// orNil returns nil for a zero value.
func orNil[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
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
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), orDown("write a signing secret", err)
}

// SwitchOn makes an announcement that is off begin again from now. Events of the time between are not announced.
func (a *Announcer) SwitchOn(ctx context.Context, k Key) error {
	return orDown("switch an announcement on", a.Archive.SwitchAnnouncementOn(ctx, k))
}

// Tested is the status that a webhook answered to a test, or why there was none.
type Tested struct {
	Status  int    `json:"status,omitzero"`
	Error   string `json:"error,omitzero"`
	Problem string `json:"-"` // why it was not taken, in words; empty when it was
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
		return Tested{}, orDown("read an announcement", cmp.Or(err, error(ErrUnknown)))
	}
	d := &delivery{Announcer: a, State: states[i], guild: g, settings: settings}
	p, err := d.sample(ctx)
	if err != nil || p.text == "" {
		const empty = "Nothing was sent: the text of the sample comes out empty, or no level-up meets the conditions."
		return Tested{Error: empty, Problem: empty}, err
	}
	answer, err := d.try(ctx, p)
	tested := Tested{Status: answer.Status, Problem: problem(answer, err)}
	switch {
	case ctx.Err() != nil:
		return tested, fault.Down("test an announcement", ctx.Err())
	case err != nil:
		tested.Error = tested.Problem
	case tested.Problem == "" && d.Kind == announcement.Board:
		return tested, orDown("note a board's message", a.Archive.NoteBoardMessage(ctx, d.State))
	}
	return tested, nil
}

// Preview returns what a test of these settings would post, or "" if it would post nothing.
func (a *Announcer) Preview(ctx context.Context, g *guild.Guild, settings *announcement.Announcement) (string, error) {
	d := &delivery{Announcer: a, State: State{Key: Key{g.ID, settings.ID}, Kind: settings.Kind}, guild: g, settings: settings}
	p, err := d.sample(ctx)
	return p.text, err
}

// orDown returns an error of the archive as a fault.
func orDown(op string, err error) error {
	if err == nil || fault.From(err).Code != fault.Internal {
		return err
	}
	return fault.Down(op, err)
}
