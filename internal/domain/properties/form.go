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

// maxRows bounds the rows that are read of a list, above what a guild may have, so that nothing valid is left out.
const maxRows = 300

// Form is what a manager can set as text, right or wrong. Its fields have the names of their paths in the document.
type Form struct {
	Fields map[string]string
	Rows   map[string][]map[string]string // of the lists of rows, by property
}

// Known is what is known beside a form: what is saved, and the roles and channels that have names.
type Known struct {
	saved   object
	targets map[Of]map[string]object
	brief   bool // of channels and roles, forms say ids and names only
}

// Know gathers what is known of a guild and its directory.
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

// document is the settings by property.
func document(s *guild.Settings) object {
	encoded, err := guild.Marshal(*s)
	if err != nil {
		return nil
	}
	return decode[object](encoded)
}

// managed are the properties of the settings page.
func managed(yield func(Property) bool) {
	for _, p := range Table {
		if p.Section != "" && p.Section != OwnPage && !yield(p) {
			return
		}
	}
}

// Filled is the form of what is saved. version is the number of the last change.
func (k *Known) Filled(version int64) Form {
	f := Form{Fields: map[string]string{}, Rows: map[string][]map[string]string{}}
	for p := range managed {
		p.Kind.fill(f, p.Name, k.saved[p.Name], k)
	}
	k.stamp(f, f, version)
	return f
}

// Read reads what was sent and judges nothing. Rows may have any numbers. Lines end as they do in Filled.
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

// Given are the properties as the form says them, for the document's rules to judge.
func (k *Known) Given(f Form) map[string]jsontext.Value {
	given := map[string]jsontext.Value{}
	for p := range managed {
		given[p.Name] = Encode(p.Kind.read(f, p.Name, k.saved[p.Name], k))
	}
	return given
}

// value is what a form says of a property, to be compared with what another one says: whatever is saved, the same text has the same value.
func (k *Known) value(f Form, p Property) jsontext.Value {
	return Encode(p.Kind.read(f, p.Name, nil, &Known{targets: k.targets, brief: true}))
}

// Same reports whether two forms say the same.
func (k *Known) Same(a, b Form) bool {
	for p := range managed {
		if string(k.value(a, p)) != string(k.value(b, p)) {
			return false
		}
	}
	return true
}

// Difference is what was changed of a property, or of a row of one, in words, which are empty for what is not there.
type Difference struct{ Label, Before, After string }

// Differences puts in words how two objects of JSON differ, of properties of a guild's document and its directory. For a list, it
// returns the rows that are on one side only.
func (k *Known) Differences(before, after jsontext.Value) (list []Difference) {
	was, is := decode[object](before), decode[object](after)
	for _, p := range slices.Concat(Table, directory) {
		old, new := k.listed(p.Kind, was[p.Name]), k.listed(p.Kind, is[p.Name])
		if string(was[p.Name]) != string(is[p.Name]) {
			list = append(list, Difference{p.Label, apart(old, new), apart(new, old)})
		}
	}
	return list
}

// listed is a value in words; of a list, its rows.
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

// apart joins what others lack.
func apart(words, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(one string) bool { return slices.Contains(others, one) }), "; ")
}

// Fact is a property in words; of a list, one of its rows.
type Fact struct{ Label, Words string }

// Facts are all properties in words.
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

// key names a part of a form that is merged on its own: a property, or a row of a list.
func key(list, row string) string { return fmt.Sprintf("%s:%s", list, row) }
