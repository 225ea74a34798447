package events

import (
	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Names of events that are not about a member.
const (
	PeriodName = "period"
	ResetName  = "reset"
)

// levelUpBody is the data of a level-up. levelBody is that of a lost level and
// of a member who came back. removedBody is that of a member who left the board.
type levelUpBody struct {
	levelBody `json:",inline"`
	ChannelID *id.Channel `json:"channelId"`
	Silent    bool        `json:"silent,omitzero"`
}

type levelBody struct {
	UserID        id.User      `json:"userId"`
	Level         level.Level  `json:"level"`
	PreviousLevel *level.Level `json:"previousLevel,omitzero"` // absent for a member who came back
	XP            level.XP     `json:"xp"`
	AddRoles      []id.Role    `json:"addRoles"`
	RemoveRoles   []id.Role    `json:"removeRoles"`
	Hidden        bool         `json:"hidden,omitzero"`
}

type removedBody struct {
	UserID      id.User   `json:"userId"`
	RemoveRoles []id.Role `json:"removeRoles"`
	Hidden      bool      `json:"hidden,omitzero"`
}

type resetBody struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

var resetMessages = map[Reason]string{
	Lost:     "Events may have been missed. Read the members again.",
	Settings: "The curve or the role rewards have changed. Read the members again, and set their roles.",
	Imported: "Members were imported. Read the members again, and set their roles.",
	Restored: "A checkpoint was restored. Read the members again, and set their roles.",
	Cleared:  "All members were removed. Take the reward roles away.",
}

// Encode returns the entry's name and its data as JSON for clients. The name is "" if the entry is no event by the guild's settings.
func (e Entry) Encode(g *guild.Guild) (name string, data []byte, err error) {
	if e.Reset != "" {
		return ResetName, ResetData(e.Reset), nil
	}
	if e.Period != "" {
		return PeriodName, []byte(e.Period), nil
	}
	told, ok := e.Told(g)
	if !ok {
		return "", nil, nil
	}
	data, err = json.Marshal(told.body())
	return string(told.Kind), data, err
}

func (t Told) body() any {
	if t.Kind == Left {
		return removedBody{t.UserID, t.Remove, t.Hidden}
	}
	body := levelBody{UserID: t.UserID, Level: t.Level, XP: t.XP, AddRoles: t.Add, RemoveRoles: t.Remove, Hidden: t.Hidden}
	if t.Kind == Back {
		return body
	}
	body.PreviousLevel = &t.PreviousLevel
	if t.Kind == LevelDown {
		return body
	}
	up := levelUpBody{levelBody: body, Silent: t.Silent}
	if t.Channel != "" {
		up.ChannelID = &t.Channel
	}
	return up
}

// ResetData returns the data of a reset.
func ResetData(why Reason) []byte {
	data, err := json.Marshal(resetBody{why, resetMessages[why]})
	if err != nil {
		panic(err) // a text cannot fail
	}
	return data
}
