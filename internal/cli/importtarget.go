package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importTarget is the guild that an import is applied to, by /admin.
type importTarget struct {
	client *adminClient
	path   string // of the guild
}

func (t *importTarget) Begin(ctx context.Context, b importer.Begin) (begun importer.Begun, err error) {
	body, err := json.Marshal(struct {
		Files string `json:"files,omitzero"`
		Plan  string `json:"plan,omitzero"`
		Again bool   `json:"again,omitzero"`
	}(b))
	if err != nil {
		return begun, fmt.Errorf("begin an import: %w", err)
	}
	_, answer, err := t.client.call(ctx, http.MethodPost, t.path+"/imports", body)
	if err != nil {
		return begun, err
	}
	made, err := read[struct {
		ID         string     `json:"id"`
		Checkpoint checkpoint `json:"checkpoint"`
	}](answer)
	return importer.Begun{ID: made.ID, Checkpoint: made.Checkpoint.ID}, err
}

func (t *importTarget) TakeSettings(ctx context.Context, then guild.Settings) error {
	document, err := guild.Marshal(then)
	if err != nil {
		return fmt.Errorf("take the settings: %w", err)
	}
	_, _, err = t.client.call(ctx, http.MethodPut, t.path, document)
	return err
}

// putMember is a member as PUT of members by the operator takes it.
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

func putBody(call importer.Call) ([]byte, error) {
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
	return json.Marshal(struct {
		Mode    leaderboard.PutMode `json:"mode"`
		Members []putMember         `json:"members"`
	}{call.Mode, members})
}

// Put is safe to repeat when its outcome is unknown: the call's name is its Idempotency-Key.
func (t *importTarget) Put(ctx context.Context, call importer.Call) (done importer.Result, busy bool, err error) {
	body, err := putBody(call)
	if err != nil {
		return done, false, fmt.Errorf("encode members: %w", err)
	}
	_, answer, err := t.client.callOnce(ctx, http.MethodPut, t.path+"/members", body, call.Name)
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
	_, _, err := t.client.call(ctx, http.MethodPost, t.path+"/imports/"+importID+"/finish", fmt.Appendf(nil, `{"members":%d}`, members))
	return err
}
