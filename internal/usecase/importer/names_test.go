package importer

import (
	"iter"

	"levelboard/internal/domain/level"
)

const (
	MaxSkips        = maxSkips
	LookupSize      = lookupSize
	MaxMessageCount = maxMessageCount
)

func (m *Members) Count() int { return m.count() }

func (m *Members) Rows(curve level.Curve, lowest level.Level) iter.Seq2[Row, error] {
	return m.rows(curve, lowest)
}

func (r *Row) Capped() bool { return r.capped() }
