package cli

import (
	"context"
	"errors"
	"net/http"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importTarget is the guild that an import is applied to, by /admin.
type importTarget struct {
	*client
	guild string
}

func (t *importTarget) Begin(ctx context.Context, b importer.Begin) (begun importer.Begun, err error) {
	_, answer, err := t.call(ctx, request{method: http.MethodPost, path: guildPath(t.guild) + "/imports", body: struct {
		Files string `json:"files,omitzero"`
		Plan  string `json:"plan,omitzero"`
		Again bool   `json:"again,omitzero"`
	}(b)})
	if err != nil {
		return begun, err
	}
	made, err := read[struct {
		ID         string     `json:"id"`
		Checkpoint checkpoint `json:"checkpoint"`
	}](answer)
	return importer.Begun{ID: made.ID, Checkpoint: made.Checkpoint.ID}, err
}

func (t *importTarget) TakeSettings(ctx context.Context, properties []byte) error {
	_, _, err := t.call(ctx, request{method: http.MethodPatch, path: guildPath(t.guild), body: properties})
	return err
}

// putMember is a member in the body of the operator's PUT of members.
type putMember struct {
	UserID       id.User  `json:"userId"`
	XP           level.XP `json:"xp"`
	MessageCount *int64   `json:"messageCount,omitzero"`
	User         *putUser `json:"user,omitzero"`
	Present      *bool    `json:"present,omitzero"`
	Hidden       []string `json:"hidden,omitempty"`
}

type putUser struct {
	Avatar        *string `json:"avatar"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      string  `json:"username"`
}

type putBody struct {
	Mode    leaderboard.PutMode `json:"mode"`
	Members []putMember         `json:"members"`
}

func putBodyOf(call importer.Call) putBody {
	members := make([]putMember, len(call.Members))
	for n, m := range call.Members {
		members[n] = putMember{UserID: m.User, XP: m.XP, MessageCount: m.MessageCount, Hidden: m.Hidden.Words()}
		if u := m.Data; u != nil {
			members[n].User = &putUser{u.Avatar, u.Discriminator, u.GlobalName, u.Username}
		}
		if m.Absent {
			members[n].Present = new(false)
		}
	}
	return putBody{call.Mode, members}
}

// Put may be repeated when its outcome is unknown: the call's name is its Idempotency-Key.
func (t *importTarget) Put(ctx context.Context, call importer.Call) (done importer.Result, busy bool, err error) {
	_, answer, err := t.call(ctx, request{http.MethodPut, guildPath(t.guild) + "/members", putBodyOf(call), call.Name})
	if err != nil {
		var answered *refused
		busy := !errors.As(err, &answered) || answered.status == http.StatusServiceUnavailable || answered.status == http.StatusTooManyRequests
		return done, busy && ctx.Err() == nil, err
	}
	put, err := read[struct {
		Results []struct {
			Outcome leaderboard.PutState `json:"outcome"`
		} `json:"results"`
	}](answer)
	for _, r := range put.Results {
		done.Count(r.Outcome)
	}
	return done, false, err
}

func (t *importTarget) Finish(ctx context.Context, importID string, members int) error {
	_, _, err := t.call(ctx, request{
		method: http.MethodPost, path: guildPath(t.guild) + "/imports/" + importID + "/finish", body: map[string]int{"members": members},
	})
	return err
}
