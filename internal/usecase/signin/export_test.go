package signin

import "context"

// Redeem exchanges a code for a token.
func (p *Provider) Redeem(ctx context.Context, code, verifier string) (Token, error) {
	return p.redeem(ctx, code, verifier)
}

func (p *Provider) Address(state, verifier string) string { return p.address(state, verifier) }

func (p *Provider) Identify(ctx context.Context, t Token) (Identity, error) {
	return p.identify(ctx, t)
}

func (p *Provider) Renew(ctx context.Context, t Token) (Token, error) { return p.renew(ctx, t) }

func (g Guild) Manages() bool { return g.manages() }
