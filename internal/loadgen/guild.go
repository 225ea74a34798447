package loadgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"
)

const (
	// guildID is the run's guild. No guild has such an id before the year 2083.
	guildID   = "9000000000000000001"
	guildName = "bench"
	// ownerID owns the guild and the key.
	ownerID = "9000000000000000002"
	// keySlack is for how long after the load's end the key is valid, should it not be possible to revoke it.
	keySlack = time.Hour
)

// apiKey is the run's key.
type apiKey struct{ id, secret string }

// prepare makes the guild, the key and the members. What it made is removed by tidy, also after an error.
func (b *bench) prepare(ctx context.Context) error {
	if err := b.makeGuild(ctx); err != nil {
		return err
	}
	if err := b.makeKey(ctx); err != nil {
		return err
	}
	if !b.Scenario.sendsMessages() {
		return b.makeMembers(ctx, filling{fill(), 1, fillConnections})
	}
	filled, err := b.filled(ctx)
	if err == nil && !filled {
		if err = b.putGuild(ctx, fillRules()); err == nil {
			err = b.makeMembers(ctx, filling{fillByMessages(), MaxBatch, fillCallers})
		}
	}
	if err != nil {
		return err
	}
	return b.putGuild(ctx, rulesOf())
}

// filled reports whether the board has as many members as the run: an earlier run kept them.
func (b *bench) filled(ctx context.Context) (bool, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	last, err := b.readPage(ctx, &http.Client{Transport: transport, Timeout: answerTime}, (b.Members+pageSize-1)/pageSize)
	if err != nil {
		return false, fmt.Errorf("look for the members of an earlier run: %w", err)
	}
	return len(last) > (b.Members-1)%pageSize, nil
}

// makeGuild creates the guild, or takes the one over that an earlier run kept.
func (b *bench) makeGuild(ctx context.Context) error {
	status, answer, err := b.Admin(ctx, http.MethodGet, guildPath, nil)
	if err != nil && status != http.StatusNotFound {
		return err
	}
	if err == nil {
		var found struct {
			Name    string `json:"name"`
			OwnerID string `json:"ownerId"`
		}
		if err := json.Unmarshal(answer, &found); err != nil {
			return fmt.Errorf("the service's answer cannot be read: %w", err)
		}
		if found.Name != guildName || found.OwnerID != ownerID {
			return fmt.Errorf("the guild %s exists and is not one of bench; it stays untouched", guildID)
		}
	}
	b.ours = true // from here on, whatever the answer
	return b.putGuild(ctx, nil)
}

// putGuild sets the guild's settings, rules among them.
func (b *bench) putGuild(ctx context.Context, rules map[string]any) error {
	document := map[string]any{"name": guildName, "memberCount": b.Members, "ownerId": ownerID, "visibility": "private"}
	maps.Copy(document, rules)
	settings, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("write the guild's settings: %w", err)
	}
	_, _, err = b.Admin(ctx, http.MethodPut, guildPath, settings)
	return err
}

const guildPath = "/admin/guilds/" + guildID

func (b *bench) makeKey(ctx context.Context) error {
	request, err := json.Marshal(map[string]any{
		"name": guildName, "ownerId": ownerID, "permission": "read_write", "guildIds": []string{guildID}, "rateLimit": 0,
		"expiresAt": time.Now().Add(b.Duration + keySlack).UTC().Truncate(time.Second),
	})
	if err != nil {
		return fmt.Errorf("write the key's settings: %w", err)
	}
	_, answer, err := b.Admin(ctx, http.MethodPost, "/admin/keys", request)
	if err != nil {
		return err
	}
	var made struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" || made.Key == "" {
		return errors.New("the service's answer to the creation of a key cannot be read")
	}
	b.key = apiKey{made.ID, made.Key}
	return nil
}

// filling is a way to create the members, so many with each request.
type filling struct {
	operation   operation
	each        int
	connections int // at most
}

// makeMembers creates the members, on no more connections than the load will have.
func (b *bench) makeMembers(ctx context.Context, f filling) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	record := newRecorder(1)
	stop := every(progressInterval, func() {
		done, failed := record.count()
		done = min(done*int64(f.each), int64(b.Members))
		b.Progress(fmt.Sprintf("%s of %s members are there", grouped(done), grouped(int64(b.Members))))
		if failed > 0 {
			cancel() // one that is missing is enough to give up
		}
	})
	crowd := &crowd{
		target: b.target, shared: b.shared(nil), shares: []share{{f.operation, 1}}, connections: min(b.Concurrency, f.connections), recorder: record,
	}
	crowd.run(ctx)
	stop()
	errs := record.totals()[0].errors
	switch {
	case errs[tooMany] > 0:
		return errors.New("the members cannot be created, because the service limits its callers: " + limitAdvice)
	case len(errs) > 0:
		return errors.New("the members cannot be created: " + listed(errs))
	}
	return ctx.Err()
}

const (
	// fillConnections is enough to keep a service busy with the creation of members.
	fillConnections = 64
	// fillCallers is enough to keep a service busy with calls of a thousand messages: more would only wait for each other.
	fillCallers = 4
)

// tidy revokes the key and, unless it is to be kept, deletes the guild.
func (b *bench) tidy(ctx context.Context) error {
	var errs []error
	if b.key.id != "" {
		if _, _, err := b.Admin(ctx, http.MethodDelete, "/admin/keys/"+url.PathEscape(b.key.id), nil); err != nil {
			errs = append(errs, fmt.Errorf("the key %s is left behind: %w", b.key.id, err))
		}
	}
	if b.ours && !b.Keep {
		status, _, err := b.Admin(ctx, http.MethodDelete, guildPath, nil)
		if err != nil && status != http.StatusNotFound {
			errs = append(errs, fmt.Errorf("the guild %s is left behind: %w", guildID, err))
		}
	}
	return errors.Join(errs...)
}
