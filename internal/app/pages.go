package app

import (
	"time"

	"levelboard/internal/guild"
	"levelboard/internal/leaderboard"
	"levelboard/internal/web"
)

// pages builds the pages for people. address is where they are listened for, which is their public address if none is set.
func (a *App) pages(address string, guilds *guild.Directory, board *leaderboard.Leaderboard) (*web.Site, error) {
	return web.New(web.Deps{
		Guilds: guilds, Board: board, Limiter: a.limiter,
		PublicURL: a.urlAt(address), IdentityLimit: a.cfg.RateLimitIdentity, Patience: a.patience(),
		Version: a.opts.Version, Log: a.log, Now: time.Now,
	})
}
