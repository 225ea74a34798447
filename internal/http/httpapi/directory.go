package httpapi

import "levelboard/internal/domain/guild"

// putDirectory stores a bot's description of its guild.
func (a *api) putDirectory(r *request) (any, error) {
	r.guild()
	given, err := guild.ParseDescription(r.largeBody())
	r.keep(err)
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	return nil, a.deps.Settings.Describe(r.ctx, g.ID, given)
}
