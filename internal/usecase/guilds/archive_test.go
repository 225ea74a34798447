package guilds_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// archive notes what it is asked to change, and answers with what a test gave it. storetest tests archives.
type archive struct {
	fails   map[string]error // by method; "*": all
	changed []string
	guild   *guild.Guild // nil: there is none
	deleted []leaderboard.GuildRef
	rows    int // which Purge has left
}

func (a *archive) answer(method string) error {
	if err := a.fails["*"]; err != nil {
		return err
	}
	return a.fails[method]
}

func (a *archive) change(method string, args ...any) error {
	if err := a.answer(method); err != nil {
		return err
	}
	a.changed = append(a.changed, strings.TrimSpace(fmt.Sprintln(append([]any{method}, args...)...)))
	return nil
}

func (a *archive) Guild(context.Context, id.Guild) (*guild.Guild, error) {
	if a.guild == nil {
		return nil, errors.Join(guild.ErrNotFound, a.answer("Guild"))
	}
	return a.guild, a.answer("Guild")
}

func (a *archive) Guilds(context.Context, id.Guild, int) ([]*guild.Guild, error) {
	return []*guild.Guild{a.guild}, a.answer("Guilds")
}

func (a *archive) PutGuild(_ context.Context, s guild.Settings) (*guild.Guild, bool, error) {
	created := a.guild == nil
	if err := a.change("PutGuild", s.ID, s.Name); err != nil {
		return nil, false, err
	}
	a.guild = &guild.Guild{Settings: s, Incarnation: 7, Version: int64(len(a.changed))}
	return a.guild, created, nil
}

func (a *archive) ChangeGuild(_ context.Context, g id.Guild, change guild.Change) (*guild.Guild, error) {
	s, err := change.In(a.guild.Settings)
	if err == nil {
		err = a.change("ChangeGuild", g, s.Name)
	}
	if err != nil {
		return nil, err
	}
	a.guild.Settings = s
	return a.guild, nil
}

func (a *archive) Directory(context.Context, id.Guild) (guild.Directory, error) {
	return guild.Directory{}, a.answer("Directory")
}

func (a *archive) DeleteGuild(_ context.Context, g id.Guild) (*guild.Guild, error) {
	if err := a.change("DeleteGuild", g); err != nil {
		return nil, err
	}
	gone := a.guild
	a.guild, a.deleted = nil, append(a.deleted, leaderboard.Ref(gone))
	return gone, nil
}

func (a *archive) Deleted(_ context.Context, limit int) ([]leaderboard.GuildRef, error) {
	return a.deleted[:min(limit, len(a.deleted))], a.answer("Deleted")
}

func (a *archive) Purge(_ context.Context, limit int, _ snapshot.Keep) (int, error) {
	if err := a.answer("Purge"); err != nil {
		return 0, err
	}
	n := min(limit, a.rows)
	a.rows -= n
	return n, nil
}
