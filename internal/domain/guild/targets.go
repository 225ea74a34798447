package guild

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
)

// maxTargets is how many channels or roles a multiplier may have, as many as a role reward has roles.
const maxTargets = 500

func parseChannels(path string, value jsontext.Value) ([]Channel, error) {
	documents, err := strictjson.List[channelDocument](path, value, 0, maxTargets)
	if err != nil {
		return nil, err
	}
	seen := make(map[id.Channel]bool)
	var list []Channel
	for i, d := range documents {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := checkOnce(at+".id", d.ID, seen); err != nil {
			return nil, err
		}
		parent := d.ParentID.Or(nil)
		if parent != nil && !id.Valid(string(*parent)) {
			return nil, fault.At(at+".parentId", "must be a snowflake (17 to 19 digits, the first not 0) or null")
		}
		list = append(list, Channel{ID: d.ID, Name: d.Name, ParentID: parent, Position: d.Position.Or(0), Type: d.Type.Or(0)})
	}
	return list, nil
}

func parseRoles(path string, documents []roleDocument) ([]Role, error) {
	seen := make(map[id.Role]bool)
	var list []Role
	for i, d := range documents {
		if err := checkOnce(fmt.Sprintf("%s[%d].id", path, i), d.ID, seen); err != nil {
			return nil, err
		}
		list = append(list, Role{ID: d.ID, Name: d.Name, Color: d.Color.Or(nil), Position: d.Position.Or(0)})
	}
	return list, nil
}

// snowflakes checks a list of ids: each a snowflake, none twice. An empty list becomes nil.
func snowflakes[T ~string](path string, list []T) ([]T, error) {
	seen := make(map[T]bool)
	for i, s := range list {
		if err := checkOnce(fmt.Sprintf("%s[%d]", path, i), s, seen); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// checkOnce checks that s is a snowflake that was not seen before.
func checkOnce[T ~string](path string, s T, seen map[T]bool) error {
	if !id.Valid(string(s)) {
		return notSnowflake(path)
	}
	if seen[s] {
		return fault.At(path, "repeats %s; remove one of them", s)
	}
	seen[s] = true
	return nil
}

func notSnowflake(path string) error {
	return fault.At(path, "must be a snowflake: a string of 17 to 19 digits, the first not 0").Because(id.ErrSnowflake)
}

// uuids are the ids given in one list so far.
type uuids map[uuid.UUID]bool

// take returns the id that was given, as it was written, or a new one.
func (u uuids) take(path string, given strictjson.Optional[string]) (string, error) {
	text, ok := given.Get()
	if !ok {
		text = uuid.NewString()
	}
	parsed, err := uuid.Parse(text)
	if err != nil || len(text) != len(parsed.String()) {
		return "", fault.At(path, "must be a UUID, such as 6ba7b810-9dad-41d1-80b4-00c04fd430c8; leave it out to get a new one")
	}
	if u[parsed] {
		return "", fault.At(path, "repeats an id of the same list; leave it out to get a new one")
	}
	u[parsed] = true
	return text, nil
}
