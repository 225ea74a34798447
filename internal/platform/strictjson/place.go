package strictjson

import (
	"strconv"

	"levelboard/internal/domain/fault"
)

// place is where in the JSON value the decoder is. It is kept as steps, since only an error needs it as text.
type place struct {
	root  string // where the value is in the body; empty for the body
	steps []step
}

// step goes down to a property or, without a name, to an item of a list.
type step struct {
	name string
	item int
}

// enter goes down. After an error nobody goes up again: the place is where the error is.
func (p *place) enter(s step) { p.steps = append(p.steps, s) }

// leave goes up.
func (p *place) leave() { p.steps = p.steps[:len(p.steps)-1] }

// path is the place as clients write properties: user.avatar, roles[0].id.
func (p *place) path() string {
	path := p.root
	for _, s := range p.steps {
		if s.name == "" {
			path += "[" + strconv.Itoa(s.item) + "]"
		} else {
			path = join(path, s.name)
		}
	}
	return path
}

// wrong says that the value at the place breaks a rule.
func (p *place) wrong(rule string, args ...any) *fault.Error {
	return fault.At(p.path(), rule, args...)
}
