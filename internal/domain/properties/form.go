package properties

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
)

// maxRows bounds the rows of a list that are read. It is more than any list may have, so that no valid row is left out.
const maxRows = 300

// Form holds the settings of a form as text, which may be invalid. A field's name is its path in the document.
type Form struct {
	Fields map[string]string
	Rows   map[string][]map[string]string // of the lists of rows, by property
}

// Known is what a form is read and filled with: the saved settings, and the names of roles and channels.
type Known struct {
	saved   object
	targets map[Of]map[string]object
	brief   bool // forms show only ids and names of channels and roles
}

// Know gathers the settings of a guild and the names in its directory.
func Know(s *guild.Settings, d guild.Directory) *Known {
	k := &Known{saved: document(s), targets: map[Of]map[string]object{Roles: {}, Channels: {}}}
	for _, m := range s.Multipliers {
		k.note(Channels, Encode(m.Channels))
		k.note(Roles, Encode(m.Roles))
	}
	for _, r := range s.RoleRewards {
		k.note(Roles, Encode(r.Roles))
	}
	k.note(Channels, Encode(d.Channels))
	k.note(Roles, Encode(d.Roles))
	return k
}

func (k *Known) note(of Of, list jsontext.Value) {
	for _, target := range decode[[]object](list) {
		k.targets[of][plain(target["id"])] = target
	}
}

func (k *Known) nameOf(of Of, one string) string { return plain(k.targets[of][one]["name"]) }

// document returns the settings by property.
func document(s *guild.Settings) object {
	encoded, err := guild.Marshal(*s)
	if err != nil {
		return nil
	}
	return decode[object](encoded)
}

// managed yields the properties of the settings page.
func managed(yield func(Property) bool) {
	for _, p := range Table {
		if p.Section != "" && !yield(p) {
			return
		}
	}
}

// Filled returns the form of the saved settings. version is the number of the last change.
func (k *Known) Filled(version int64) Form {
	f := Form{Fields: map[string]string{}, Rows: map[string][]map[string]string{}}
	for p := range managed {
		p.Kind.fill(f, p.Name, k.saved[p.Name], k)
	}
	k.stamp(f, f, version)
	return f
}

// Read reads a sent form and checks nothing. Rows may have any numbers. Line ends become those of Filled.
func Read(sent url.Values) Form {
	f := Form{Fields: map[string]string{}, Rows: map[string][]map[string]string{}}
	numbered := map[string]map[int]map[string]string{}
	for name := range sent {
		value := strings.ReplaceAll(sent.Get(name), "\r\n", "\n")
		list, n, property, ok := inRow(name)
		if !ok {
			f.Fields[name] = value
			continue
		}
		if numbered[list] == nil {
			numbered[list] = map[int]map[string]string{}
		}
		if numbered[list][n] == nil {
			numbered[list][n] = map[string]string{}
		}
		numbered[list][n][property] = value
	}
	for list, rows := range numbered {
		for _, n := range slices.Sorted(maps.Keys(rows)) {
			f.Rows[list] = append(f.Rows[list], rows[n])
		}
		f.Rows[list] = f.Rows[list][:min(len(rows), maxRows)]
	}
	return f
}

// inRow splits the name of a field in a row.
func inRow(name string) (list string, n int, property string, ok bool) {
	list, rest, _ := strings.Cut(name, "[")
	digits, property, ok := strings.Cut(rest, "].")
	n, err := strconv.Atoi(digits)
	p, known := ByName(list)
	_, isRows := p.Kind.(Rows)
	return list, n, property, ok && err == nil && n >= 0 && known && isRows
}

// Given returns the form's properties as JSON. The document's rules have not checked them.
func (k *Known) Given(f Form) map[string]jsontext.Value {
	given := map[string]jsontext.Value{}
	for p := range managed {
		given[p.Name] = Encode(p.Kind.read(f, p.Name, k.saved[p.Name], k))
	}
	return given
}

// value returns a property of the form, to compare it with that of another form. The same text always has the same value, whatever is saved.
func (k *Known) value(f Form, p Property) jsontext.Value {
	return Encode(p.Kind.read(f, p.Name, nil, &Known{targets: k.targets, brief: true}))
}

// Same reports whether two forms have the same values.
func (k *Known) Same(a, b Form) bool {
	for p := range managed {
		if string(k.value(a, p)) != string(k.value(b, p)) {
			return false
		}
	}
	return true
}

// Difference is a changed property, or a changed row of one, in words. Before or After is empty for a row that was added or removed.
type Difference struct{ Label, Before, After string }

// Differences puts into words how two JSON objects differ. Their properties are those of a guild's document and directory. For a
// list, it returns only the rows that one side lacks. It leaves out what reads the same on both sides, such as rows with new ids.
func (k *Known) Differences(before, after jsontext.Value) (list []Difference) {
	was, is := decode[object](before), decode[object](after)
	for _, p := range slices.Concat(Table, directory) {
		old, new := k.listed(p.Kind, was[p.Name]), k.listed(p.Kind, is[p.Name])
		if d := (Difference{p.Label, apart(old, new), apart(new, old)}); d.Before != d.After {
			list = append(list, d)
		}
	}
	return list
}

// listed returns a value in words; for a list, each of its rows.
func (k *Known) listed(kind Kind, value jsontext.Value) (words []string) {
	rows, ok := kind.(Rows)
	if !ok {
		return []string{kind.words(value, k)}
	}
	for _, row := range decode[[]object](value) {
		words = append(words, k.rowWords(rows, row))
	}
	return words
}

// apart joins those of words that are not in others.
func apart(words, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(one string) bool { return slices.Contains(others, one) }), "; ")
}

// Fact is a property in words, or a row of one.
type Fact struct{ Label, Words string }

// Facts returns all properties in words.
func Facts(s *guild.Settings) (list []Fact) {
	k, all := &Known{}, document(s)
	for _, p := range Table {
		label := p.Label
		if rows, ok := p.Kind.(Rows); ok {
			label = rows.Noun
		}
		for _, words := range k.listed(p.Kind, all[p.Name]) {
			list = append(list, Fact{label, words})
		}
	}
	return list
}

// key names a part of a form that is merged by itself: a property, or a row of a list.
func key(list, row string) string { return fmt.Sprintf("%s:%s", list, row) }
