package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"
)

// silence is how long a stream may be silent. It has a sign of life every 15 seconds.
const silence = 30 * time.Second

// Event is one event of a guild. Type is empty for the first id of a stream.
type Event struct {
	ID, Type string
	Data     EventData
}

// At is when the event happened: its id begins with the milliseconds.
func (e Event) At() time.Time {
	milliseconds, _, _ := strings.Cut(e.ID, "-")
	ms, _ := strconv.ParseInt(milliseconds, 10, 64)
	return time.UnixMilli(ms)
}

// EventData is what the events that the bot uses hold.
type EventData struct {
	UserID        string `json:"userId"`
	ChannelID     string `json:"channelId"`
	Level         int    `json:"level"`
	PreviousLevel int    `json:"previousLevel"`
	XP            int    `json:"xp"`
	AddRoles      []string
	Silent        bool   `json:"silent"`
	Hidden        bool   `json:"hidden"`
	Reason        string `json:"reason"`

	PeriodID string         `json:"id"`
	Kind     string         `json:"kind"`
	Name     string         `json:"name"`
	Winners  []PeriodWinner `json:"winners"`
}

// PeriodWinner is a member who is among the first of a period.
type PeriodWinner struct {
	Rank   int    `json:"rank"`
	UserID string `json:"userId"`
	Gained int    `json:"gained"`
}

// Stream calls apply for each event of a guild after the one with an id, in order, until the stream ends, is silent, or ctx ends.
func (c *Client) Stream(ctx context.Context, key, guildID, after string, apply func(Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/v2/guilds/"+guildID+"/events", nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-Api-Key", key)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	client := http.Client{Transport: c.calls.HTTPClient.Transport} // without the time limit of calls
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return failure(answer)
	}
	for event, err := range sse.Read(io.TeeReader(answer.Body, alarm{watch}), nil) {
		if err != nil {
			return err
		}
		e := Event{ID: event.LastEventID, Type: event.Type}
		if event.Data != "" {
			if err := json.Unmarshal([]byte(event.Data), &e.Data); err != nil {
				return err
			}
		}
		apply(e)
	}
	return io.EOF
}

// alarm is a timer that each sign of life sets back.
type alarm struct{ *time.Timer }

func (a alarm) Write(p []byte) (int, error) {
	a.Reset(silence)
	return len(p), nil
}
