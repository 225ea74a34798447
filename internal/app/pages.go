package app

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/http/web"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/signin"
)

// pages builds the pages for people on the use cases in deps. address is where they are listened for, which is their public address if none is set.
func (a *App) pages(address string, apiKeys *keys.Keys, deps web.Deps) (*web.Site, error) {
	public := a.urlAt(address)
	deps.Keys, deps.Limiter, deps.Log, deps.Now = apiKeys, a.limiter, a.log, time.Now
	deps.PublicURL, deps.IdentityLimit, deps.Version = public, a.cfg.RateLimitIdentity, a.opts.Version
	deps.Watch, deps.KeepAlive = a.watching, a.opts.KeepAlive
	o := a.signInOptions(address, public)
	o.Refreshed = func(ctx context.Context, user id.User, managed []id.Guild) error {
		return apiKeys.Refreshed(ctx, keys.User(user, managed...))
	}
	if o.Provider != nil || len(o.Locals) > 0 {
		deps.SignIn = signin.NewSessions(a.stores.live, o)
	}
	return web.New(deps)
}

// signInOptions leaves both ways to sign in off unless they were asked for. The one without a provider is for an embedded
// service that only this machine can reach, whoever asks for it.
func (a *App) signInOptions(address, public string) signin.Options {
	o := signin.Options{Log: a.log, Now: time.Now}
	if a.cfg.OAuthClientID != "" {
		o.Provider = signin.NewProvider(signin.ProviderOptions{
			ClientID: a.cfg.OAuthClientID, ClientSecret: a.cfg.OAuthClientSecret,
			AuthURL: a.cfg.OAuthAuthURL, TokenURL: a.cfg.OAuthTokenURL, APIURL: a.cfg.OAuthAPIURL,
			RedirectURL: web.RedirectURL(public),
		})
		a.closers = append(a.closers, closer{"the connections to the provider of sign-in", func() error { o.Provider.Close(); return nil }})
	}
	if len(a.opts.LocalSignIn) > 0 {
		if a.cfg.Embedded() && web.Loopback(address) {
			o.Locals = a.opts.LocalSignIn
		} else {
			a.log.Warn("the demo's sign-in is off, because other machines can reach this service")
		}
	}
	return o
}
