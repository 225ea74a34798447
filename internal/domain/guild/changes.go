package guild

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Described is a guild's settings and directory.
type Described struct {
	Settings
	Directory
}

// Changes returns the properties of the settings and the directory that differ: was is a JSON object of their old values, is one of their
// new values. Both are nil if only memberCount differs, which changes all day. For a new guild was is nil, and is has all properties.
func Changes(before *Described, after Described) (was, is jsontext.Value, err error) {
	new, err := after.properties()
	if err != nil || before == nil {
		is, err = object(new, err)
		return nil, is, err
	}
	old, err := before.properties()
	if err != nil {
		return nil, nil, err
	}
	for name, value := range new {
		if bytes.Equal(value, old[name]) && (name != "announcements" || sameSecrets(before.Settings, after.Settings)) {
			delete(new, name)
			delete(old, name)
		}
	}
	if len(new) == 0 || len(new) == 1 && new["memberCount"] != nil {
		return nil, nil, nil
	}
	if was, err = object(old, nil); err == nil {
		is, err = object(new, nil)
	}
	return was, is, err
}

func (d Described) properties() (map[string]jsontext.Value, error) {
	document, err := Marshal(d.Settings)
	if err != nil {
		return nil, err
	}
	directory, err := MarshalDirectory(d.Directory)
	if err != nil {
		return nil, err
	}
	all := map[string]jsontext.Value{}
	for _, encoded := range [][]byte{document, directory} {
		var part map[string]jsontext.Value
		if err := json.Unmarshal(encoded, &part); err != nil {
			return nil, fmt.Errorf("read the properties of guild %s: %w", d.ID, err)
		}
		maps.Copy(all, part)
	}
	delete(all, "id")
	return all, nil
}

func object(properties map[string]jsontext.Value, err error) (jsontext.Value, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(properties, json.Deterministic(true))
}
