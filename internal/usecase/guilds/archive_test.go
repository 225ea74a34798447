package guilds_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// archive notes what it is asked to change, and answers with what a test gave it. storetest tests archives.
type archive struct {
	fails   map[string]error // by method; "*": all
	changed []string
	guild   *guild.Guild // nil: there is none
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
	return a.guild, a.change("DeleteGuild", g)
}
