package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/ownkeys"
	"levelboard/internal/usecase/signin"
)

// community is a guild as the pages about keys name it.
type community struct {
	ID       id.Guild
	Name     string // its id when nothing else is known
	Icon     string // icon hash, or empty
	Operator bool   // of a grant: the operator gave it
}

// namedAtOnce is how many guilds are named in a line; the others are counted.
const namedAtOnce = 3

// granted names the guilds of grants, in the order of their names.
func (s *Site) granted(ctx context.Context, grants []apikey.Grant) ([]community, error) {
	list := make([]community, 0, len(grants))
	for _, grant := range grants {
		known, err := s.community(ctx, grant.GuildID)
		if err != nil {
			return nil, err
		}
		known.Operator = grant.By == apikey.Operator
		list = append(list, known)
	}
	slices.SortFunc(list, byName)
	return list, nil
}

// grantable lists the guilds that the provider says the user manages and that are known here, in the order of their names.
func (s *Site) grantable(ctx context.Context, session *signin.Session) ([]community, error) {
	var list []community
	for _, managed := range session.Managed() {
		g, err := s.deps.Guilds.ByID(ctx, managed.ID)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, communityOf(g))
	}
	slices.SortFunc(list, byName)
	return list, nil
}

// community finds what to call a guild; one that is gone is called by its id.
func (s *Site) community(ctx context.Context, gid id.Guild) (community, error) {
	g, err := s.deps.Guilds.ByID(ctx, gid)
	if fault.Is(err, fault.NotFound) {
		return community{ID: gid, Name: string(gid)}, nil
	}
	if err != nil {
		return community{}, err
	}
	return communityOf(g), nil
}

func communityOf(g *guild.Guild) community {
	return community{ID: g.ID, Name: nameOr(g.Name, g.ID), Icon: text(g.Icon)}
}

func byName(a, b community) int {
	return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
}

// keyOwner is the user whose keys they are, with the guilds that they may grant.
func keyOwner(session *signin.Session) ownkeys.User {
	user := ownkeys.User{ID: session.User.ID}
	for _, g := range session.Managed() {
		user.Guilds = append(user.Guilds, g.ID)
	}
	return user
}
