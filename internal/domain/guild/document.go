package guild

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
)

// MaxDocument is the maximum length of a guild's document with its defaults, in bytes.
const MaxDocument = 256 << 10

// Parse reads and validates the settings of guild gid from a document of the admin API. An absent property gets its
// default, a row without an id a new UUID; empty lists become nil. A client's mistake is a *fault.Error that names
// the property: fault.Invalid, or fault.TooLarge when the document with its defaults is longer than MaxDocument.
func Parse(gid id.Guild, body []byte) (Settings, error) {
	s, err := read(gid, body, strictjson.Decode)
	if err != nil {
		return Settings{}, err
	}
	if err := s.fits(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// With replaces properties by those of a JSON object, a list as a whole. It returns
// the new settings, and all mistakes in Parse's sentences. It does not change s.
func (s Settings) With(properties []byte) (Settings, fault.List) {
	gid := s.ID
	wrong := strictjson.DecodeOver(properties, &s)
	if s.ID != gid && !wrong.Has("id") {
		wrong.Add(notID(gid))
	}
	s.check(&wrong)
	if wrong.Len() == 0 {
		s.complete()
		if err := s.fits(); err != nil {
			wrong.Add(fault.From(err))
		}
	}
	return s, wrong
}

// Change is a part of a guild's document. Each of its properties replaces the stored one, a list as a whole; all others stay.
type Change struct {
	properties []byte
	given      Settings // the properties, and defaults for the others
}

// ParseChange reads the body of a PATCH of guild gid. A client's mistake is a
// *fault.Error as from Parse. In finds the mistakes that depend on the other properties.
func ParseChange(gid id.Guild, body []byte) (Change, error) {
	s := Defaults(gid)
	wrong := strictjson.DecodeOver(body, &s)
	if s.ID != gid && !wrong.Has("id") {
		wrong.Add(notID(gid))
	}
	return Change{body, s}, wrong.Err()
}

// CheckHosts is Settings.CheckHosts for the properties of the change.
func (c Change) CheckHosts(allowed func(host string) bool) error { return c.given.CheckHosts(allowed) }

// In returns the settings with the change. It does not change s. Its errors are those of Parse.
func (c Change) In(s Settings) (Settings, error) {
	changed, wrong := s.With(c.properties)
	return changed, wrong.Err()
}

// fits returns a fault if the document is too long.
func (s *Settings) fits() error {
	full, err := Marshal(*s)
	if err == nil && len(full) > MaxDocument {
		err = fault.New(fault.TooLarge,
			"The guild's settings are %d bytes with their defaults filled in; they must be at most %d. Shorten the lists.", len(full), MaxDocument)
	}
	return err
}

func notID(gid id.Guild) *fault.Error {
	return fault.At("id", "must equal the id of the path, %s; leave it out or correct it", gid)
}

// Unmarshal reads a document that Marshal made, for the archives. Its error is never a client's fault, so it has no fault code.
func Unmarshal(encoded []byte) (Settings, error) { return unmarshal(encoded, strictjson.Decode) }

// Answered reads a document from a service's answer. It skips properties that only a newer version knows.
func Answered(document []byte) (Settings, error) { return unmarshal(document, strictjson.DecodeKnown) }

func unmarshal(encoded []byte, decode func([]byte, any) error) (Settings, error) {
	s, err := read("", encoded, decode)
	if err != nil {
		return Settings{}, fmt.Errorf("read the document of a guild: %v", err)
	}
	if s.ID == "" {
		return Settings{}, errors.New("read the document of a guild: it has no id")
	}
	return s, nil
}

// read reads a document of guild gid, or of any guild.
func read(gid id.Guild, body []byte, decode func([]byte, any) error) (Settings, error) {
	s := Defaults(gid)
	if err := decode(body, &s); err != nil {
		return Settings{}, err
	}
	if gid != "" && s.ID != gid {
		return Settings{}, notID(gid)
	}
	var wrong fault.List
	s.check(&wrong)
	if err := wrong.Err(); err != nil {
		return Settings{}, err
	}
	s.complete()
	return s, nil
}

// complete puts valid settings into their stored form: rows have ids, and rewards are in the order of
// levels. It does not write to a list that already is in this form, since other settings may share it.
func (s *Settings) complete() {
	for i := range s.Multipliers {
		s.Multipliers[i].ID.make()
	}
	for i := range s.RoleRewards {
		s.RoleRewards[i].ID.make()
	}
	for i := range s.Announcements {
		s.Announcements[i].Complete(uuid.NewString)
	}
	byLevel := func(a, b RoleReward) int { return cmp.Compare(a.Level, b.Level) }
	if !slices.IsSortedFunc(s.RoleRewards, byLevel) {
		slices.SortStableFunc(s.RoleRewards, byLevel)
	}
}

// make sets a new UUID if there is none.
func (u *UUID) make() {
	if *u == "" {
		*u = UUID(uuid.NewString())
	}
}

// Marshal returns the JSON document of valid settings, with every property and the guild's id. Parse and Unmarshal read equal settings from it.
func Marshal(s Settings) ([]byte, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("marshal guild %s: %w", s.ID, err)
	}
	return encoded, nil
}

// Same reports whether two valid settings are the same document, secrets included.
func Same(saved, given Settings) bool {
	if err := given.KeepSecrets(&saved); err != nil {
		return false
	}
	one, err := MarshalSecrets(saved)
	other, otherErr := MarshalSecrets(given)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}
