package announce

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/periods"
)

// secretSize is how many random bytes sign the posts of a webhook.
const secretSize = 32

// NewSigningSecret returns what signs the posts of a webhook.
func NewSigningSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// States returns how far each announcement of a guild is, by id. Its errors are faults, as are those of the other methods for managers.
func (a *Announcer) States(ctx context.Context, g *guild.Guild) (map[string]State, error) {
	found, err := a.Archive.AnnouncementStates(ctx, []id.Guild{g.ID})
	if err != nil {
		return nil, fault.Down("read announcements", err)
	}
	states := map[string]State{}
	for _, s := range found {
		states[s.ID] = s
	}
	return states, nil
}

// NewSecret makes a new signing secret of a webhook and returns it; it is shown nowhere else. The one before ends at once.
func (a *Announcer) NewSecret(ctx context.Context, k Key) (string, error) {
	_, settings, err := a.known(ctx, k)
	if err != nil {
		return "", err
	}
	if settings.Kind != announcement.Webhook {
		return "", fault.New(fault.Conflict, "Only announcements of the kind webhook are signed, and this one is of the kind %s.", settings.Kind)
	}
	secret := NewSigningSecret()
	if err := a.Archive.SetAnnouncementSecret(ctx, k, secret); err != nil {
		return "", asFault("write a signing secret", err)
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), nil
}

// SwitchOn makes an announcement that is off begin again from now. Events of the time between are not announced.
func (a *Announcer) SwitchOn(ctx context.Context, k Key) error {
	if _, _, err := a.known(ctx, k); err != nil {
		return err
	}
	return asFault("switch an announcement on", a.Archive.SwitchAnnouncementOn(ctx, k))
}

// Test posts a sample once, or edits a board now. It returns the status that the webhook answered, or what went wrong in words. The
// announcement's state stays as it is.
func (a *Announcer) Test(ctx context.Context, k Key) (status int, wrong string, err error) {
	g, settings, err := a.known(ctx, k)
	if err != nil {
		return 0, "", err
	}
	if settings.Kind == announcement.Bot {
		return 0, "", fault.New(fault.Conflict, "Announcements of the kind bot are posted by the bot, so there is nothing to test here.")
	}
	states, err := a.States(ctx, g)
	if err != nil {
		return 0, "", err
	}
	s, there := states[k.ID]
	if !there {
		return 0, "", unknown()
	}
	d := &delivery{Announcer: a, State: s}
	p, err := d.sample(ctx, g, settings)
	if err != nil {
		return 0, "", err
	}
	if p.make == nil {
		return 0, "The text comes out empty for the sample, so nothing was sent.", nil
	}
	answer, err := d.try(ctx, p)
	if err == nil && answer.verdict == waits && s.Message != "" && d.Message == "" {
		answer, err = d.try(ctx, p) // its message was deleted by hand
	}
	if err != nil {
		return 0, "", fault.Down("test an announcement", err)
	}
	if answer.verdict == taken && settings.Kind == announcement.Board {
		if err := a.Archive.NoteBoardMessage(ctx, d.State); err != nil {
			return 0, "", asFault("note a board's message", err)
		}
	}
	if answer.status == 0 {
		return 0, answer.text, nil
	}
	return answer.status, "", nil
}

// sample is what a test posts.
func (d *delivery) sample(ctx context.Context, g *guild.Guild, settings *announcement.Announcement) (post, error) {
	text, err := d.Preview(ctx, g, settings)
	if err != nil || text == "" {
		return post{}, err
	}
	switch d.Kind {
	case announcement.Board:
		return d.edit(settings.URL, text), nil
	case announcement.Webhook:
		messageID := "msg_test_" + rand.Text()
		return post{make: func() (*http.Request, error) { return webhookRequest(settings.URL, d.Secret, messageID, []byte(text)) }}, nil
	}
	var mentioned []id.User
	if settings.Mention && settings.On(announcement.LevelUp) {
		mentioned = []id.User{g.OwnerID}
	}
	message := discordMessage(text, mentioned)
	return post{make: func() (*http.Request, error) { return newRequest(http.MethodPost, settings.URL.Reveal(), message) }}, nil
}

// Preview is what a test of settings posts: a board as it is now, or a sample of an event, which is a level-up of the guild's owner, or a week
// when level-ups are not announced. It is empty when the text comes out empty.
func (a *Announcer) Preview(ctx context.Context, g *guild.Guild, settings *announcement.Announcement) (string, error) {
	switch {
	case settings.Kind == announcement.Board:
		text, _, err := a.boardText(ctx, g, settings)
		return text, err
	case settings.Kind == announcement.Webhook:
		name, data := sampleEvent(g, settings)
		return string(webhookBody(g.ID, name, time.Now(), data)), nil
	case !settings.On(announcement.LevelUp):
		return settings.PeriodOver(announcement.Closed{Period: samplePeriod, Winners: [3]string{"Ada", "Grace", "Linus"}, Guild: g.Name}), nil
	}
	reached := max(settings.From, 5)
	if len(settings.Levels) > 0 {
		reached = settings.Levels[0]
	}
	if rewards := rewardLevels(g); settings.OnlyWithRoles && len(rewards) > 0 {
		reached = rewards[0]
	}
	return settings.LevelUp(announcement.Reached{
		UserID: g.OwnerID, Name: "Ada", Level: reached, Previous: max(reached-1, 0), XP: g.Curve.XPFor(reached), Rank: 1,
		Roles: rolesBetween(g, reached-1, reached), Guild: g.Name,
	}), nil
}

const samplePeriod = "2026-W48"

// sampleEvent is an event of the first name that a webhook gets.
func sampleEvent(g *guild.Guild, settings *announcement.Announcement) (name string, data []byte) {
	low, high := g.Curve.XPFor(4), g.Curve.XPFor(5)
	start := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	week := periods.Event{
		ID: samplePeriod, Kind: "week", Start: start, End: start.AddDate(0, 0, 7), Members: 1, Winners: []periods.Winner{{Rank: 1, UserID: g.OwnerID, Gained: 905}},
	}
	e := map[announcement.Event]events.Entry{
		announcement.LevelUp:   {User: g.OwnerID, Before: low, After: high},
		announcement.LevelDown: {User: g.OwnerID, Before: high, After: low},
		announcement.Removed:   {User: g.OwnerID, Moved: events.Removed},
		announcement.Returned:  {User: g.OwnerID, After: high, Moved: events.Returned},
		announcement.Reset:     {Reset: events.Settings},
		announcement.PeriodOf:  {Period: string(encode(week))},
	}[settings.Events[0]]
	name, data, err := e.Encode(g)
	if err != nil || name == "" {
		return string(events.ResetName), events.ResetData(events.Settings)
	}
	return name, data
}

// known is find, with a NotFound fault when there is no such announcement.
func (a *Announcer) known(ctx context.Context, k Key) (*guild.Guild, *announcement.Announcement, error) {
	g, settings, err := a.find(ctx, k)
	if err == nil && settings == nil {
		err = unknown()
	}
	return g, settings, err
}

func unknown() *fault.Error {
	return fault.New(fault.NotFound, "This guild has no announcement with this id. Read the ids in its settings.")
}

func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrStale):
		return unknown()
	}
	return fault.Down(op, fmt.Errorf("announcements: %w", err))
}
