package importer

import (
	"context"
	"iter"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

const (
	MaxSkips        = maxSkips
	MaxMessageCount = maxMessageCount
)

func (m *Members) Count() int { return m.count() }

func (m *Members) Rows(curve level.Curve, lowest level.Level) iter.Seq2[Row, error] {
	return m.rows(curve, lowest)
}

// Given returns the files' value of a property of the guild's document, as JSON.
func (p *Proposal) Given(name string) string { return string(p.given[name]) }

// In returns the properties that a guild accepts.
func (p *Proposal) In(now guild.Settings) ([]byte, error) {
	document, _, err := p.in(now)
	return document, err
}

func (r *Row) Capped() bool { return r.capped() }

// PlanHash returns the hash of an import's calls with members.
func PlanHash(ctx context.Context, m *Members, by string, lowest level.Level) (string, error) {
	return (&Import{Members: m, Choice: Choice{Mode: leaderboard.PutAdd, MinLevel: lowest}}).planHash(ctx, by)
}
