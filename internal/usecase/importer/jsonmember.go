package importer

import (
	"cmp"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonMember is a member of a JSON file.
type jsonMember struct {
	has map[string]jsontext.Value
	why Reason // why the member is skipped, or empty
}

// memberNames are a source's names for the properties of a member; empty for one that it lacks.
type memberNames struct{ id, xp, level, messages string }

// members returns a function that reads a value of a list, lets take turn it into a row, and emits the row.
func (j *jsonFile) members(take func(*jsonMember) (Row, Reason)) func() error {
	return func() error { return j.member("", take) }
}

// keyed returns a function that reads an object with a member for each user's id. take finds the id as the property id.
func (j *jsonFile) keyed(what string, take func(*jsonMember) (Row, Reason)) func() error {
	return func() error {
		return j.names(what, func(user string) error { return j.member(user, take) })
	}
}

// member is strict: it rejects what two programs could read differently.
func (j *jsonFile) member(user string, take func(*jsonMember) (Row, Reason)) error {
	value, line, err := j.value()
	if err != nil {
		return err
	}
	var m jsonMember
	err = json.Unmarshal(value, &m.has)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return j.skip(line, ReasonDuplicateName)
	case errors.As(err, new(*jsontext.SyntacticError)):
		return j.skip(line, ReasonUTF8) // the file's decoder has found all other mistakes
	case err != nil || m.has == nil:
		return j.skip(line, ReasonShape)
	}
	delete(m.has, "") // "" stands for a property that a source lacks
	if user != "" {
		m.has["id"], _ = jsontext.AppendQuote(nil, user)
	}
	row, why := take(&m)
	return j.emit(line, row, cmp.Or(why, m.why))
}

// row reads id, XP, message count and the level that the source shows.
func (m *jsonMember) row(n memberNames) (Row, Reason) {
	row, why := readID(m.has[n.id])
	if why != "" {
		return row, why
	}
	xp, why := readWhole(m.has[n.xp])
	if why != "" {
		return row, why
	}
	row.gain(xp)
	row.Shown = readLevel(m.has[n.level])
	row.MessageCount, why = readCount(m.has[n.messages])
	return row, why
}

// read reads a property into the variable that into points at, unless it is absent. If it has another type, the member is skipped.
func (m *jsonMember) read(name string, into any) {
	if value, there := m.has[name]; there && json.Unmarshal(value, into) != nil {
		m.why = ReasonShape
	}
}

// text returns a text property, or nil if it is null or absent.
func (m *jsonMember) text(name string) (text *string) {
	m.read(name, &text)
	return text
}
