package properties

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Fields by which a form knows its origin: the number of the last change, and a digest of each part (a property or a
// row). A digest is enough to see who changed a part, and keeps the form short. For a set, the form has all texts.
const (
	versionField = "version"
	baseField    = "base"
)

// Conflict is a part that two managers changed in different ways, in words.
type Conflict struct{ Key, Label, Saved, Mine string }

// stamp notes in f the version and the digests of saved, its origin.
func (k *Known) stamp(f, saved Form, version int64) {
	f.Fields[versionField] = strconv.FormatInt(version, 10)
	var base []string
	note := func(key string, value jsontext.Value) { base = append(base, key+"="+digest(f, key, value)) }
	for p := range managed {
		rows, ok := p.Kind.(Rows)
		switch {
		case isSet(p):
			base = append(base, p.Name+"="+strings.Join(k.texts(saved, p), ","))
		case !ok:
			note(p.Name, k.value(saved, p))
		}
		for _, row := range saved.Rows[p.Name] {
			note(key(p.Name, row["id"]), k.rowValue(rows, row))
		}
	}
	f.Fields[baseField] = strings.Join(base, " ")
}

// digest returns the digest of a part, in a form with f's version.
func digest(f Form, key string, value jsontext.Value) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", f.Fields[versionField], key, value))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// rowValue returns the value of a row without its id, since a new row has none.
func (k *Known) rowValue(rows Rows, row map[string]string) jsontext.Value {
	value := k.row(rows, row)
	delete(value, "id")
	return Encode(value)
}

func (k *Known) row(rows Rows, row map[string]string) object {
	return rows.readRow(row, nil, &Known{targets: k.targets, brief: true})
}

// IsOf reports whether the form's origin has that version.
func (f Form) IsOf(version int64) bool {
	return f.Fields[versionField] == strconv.FormatInt(version, 10)
}

// merge is one merge of a form with the changes saved since its origin.
type merge struct {
	*Known
	mine, saved Form
	base        map[string]string // the digests of the origin, by part
	conflicts   []Conflict
}

// Merge brings the changes that others saved since the form's origin into the form; version is the number of the last one. Where
// both changed a part differently, the form keeps its own, and Merge returns the conflict. Then the form's origin is that version.
func (k *Known) Merge(mine Form, version int64) []Conflict {
	m := merge{Known: k, mine: mine, saved: k.Filled(version), base: map[string]string{}}
	for _, noted := range strings.Fields(mine.Fields[baseField]) {
		if key, digest, ok := strings.Cut(noted, "="); ok {
			m.base[key] = digest
		}
	}
	for p := range managed {
		if rows, ok := p.Kind.(Rows); ok {
			mine.Rows[p.Name] = m.rows(p, rows)
			continue
		}
		if isSet(p) {
			m.set(p)
			continue
		}
		theirs, ours := k.value(m.saved, p), k.value(mine, p)
		switch {
		case m.takes(p.Name, theirs, ours):
			mine.take(m.saved, p.Name)
		case !m.unchanged(p.Name, theirs):
			m.conflicts = append(m.conflicts, Conflict{p.Name, p.Label, p.Kind.words(theirs, k), p.Kind.words(ours, k)})
		}
	}
	k.stamp(mine, m.saved, version)
	return m.conflicts
}

// unchanged reports whether a part is as in the form's origin.
func (m *merge) unchanged(key string, value jsontext.Value) bool {
	return m.base[key] == digest(m.mine, key, value)
}

// takes reports whether theirs, the saved value, replaces ours, the form's: they are equal, or only the saved one was changed.
func (m *merge) takes(key string, theirs, ours jsontext.Value) bool {
	return string(theirs) == string(ours) || m.unchanged(key, ours)
}

// isSet reports whether a property is a set of texts. Two managers' additions and removals in a set never conflict.
func isSet(p Property) bool {
	switch p.Kind.(type) {
	case ids, ticks:
		return true
	}
	return false
}

// texts returns the texts of a set in a form.
func (k *Known) texts(f Form, p Property) []string { return decode[[]string](k.value(f, p)) }

// set merges a set: the saved texts, without those that the form removed, then those that it added.
func (m *merge) set(p Property) {
	theirs, ours, base := m.texts(m.saved, p), m.texts(m.mine, p), strings.Split(m.base[p.Name], ",")
	if string(Encode(theirs)) == string(Encode(ours)) || strings.Join(theirs, ",") == m.base[p.Name] {
		return
	}
	merged := slices.DeleteFunc(theirs, func(one string) bool { return slices.Contains(base, one) && !slices.Contains(ours, one) })
	for _, one := range ours {
		if !slices.Contains(merged, one) && !slices.Contains(base, one) {
			merged = append(merged, one)
		}
	}
	m.mine.take(Form{}, p.Name)
	p.Kind.fill(m.mine, p.Name, Encode(merged), m.Known)
}

// rows merges a list: the saved rows in their order, then the form's new ones.
func (m *merge) rows(p Property, rows Rows) (merged []map[string]string) {
	mine := m.mine.Rows[p.Name]
	words := func(row map[string]string) string { return m.rowWords(rows, m.row(rows, row)) }
	conflict := func(key string, theirs, ours string) {
		m.conflicts = append(m.conflicts, Conflict{key, p.Label, theirs, ours})
	}
	used := make([]bool, len(mine)) // the form's rows that are merged
	find := func(like func(row map[string]string) bool) map[string]string {
		for i, row := range mine {
			if !used[i] && like(row) {
				used[i] = true
				return row
			}
		}
		return nil
	}
	for _, theirs := range m.saved.Rows[p.Name] {
		key, value := key(p.Name, theirs["id"]), m.rowValue(rows, theirs)
		ours := find(func(row map[string]string) bool { return strings.TrimSpace(row["id"]) == theirs["id"] })
		_, there := m.base[key]
		switch {
		case ours != nil && m.takes(key, value, m.rowValue(rows, ours)):
			merged = append(merged, theirs)
		case ours != nil:
			if !m.unchanged(key, value) {
				conflict(key, words(theirs), words(ours))
			}
			merged = append(merged, ours)
		case !there: // new, unless this form has saved it already
			find(func(row map[string]string) bool {
				return row["id"] == "" && string(m.rowValue(rows, row)) == string(value)
			})
			merged = append(merged, theirs)
		case !m.unchanged(key, value):
			conflict(key, words(theirs), removed)
		}
	}
	for i, ours := range mine {
		key := key(p.Name, strings.TrimSpace(ours["id"]))
		if used[i] || m.base[key] != "" && m.unchanged(key, m.rowValue(rows, ours)) {
			continue
		}
		if m.base[key] != "" {
			conflict(key, removed, words(ours))
		}
		merged = append(merged, ours)
	}
	return merged
}

// removed stands for a row that was removed.
const removed = "removed"

// TakeSaved resolves a conflict by replacing the form's part with the saved one.
func (k *Known) TakeSaved(f Form, key string) {
	saved := k.Filled(0)
	list, id, isRow := strings.Cut(key, ":")
	if !isRow {
		f.take(saved, key)
		return
	}
	at := func(rows []map[string]string) int {
		for i, row := range rows {
			if row["id"] == id {
				return i
			}
		}
		return -1
	}
	switch to, from := at(f.Rows[list]), at(saved.Rows[list]); {
	case to >= 0 && from >= 0:
		f.Rows[list][to] = saved.Rows[list][from]
	case to >= 0:
		f.Rows[list] = append(f.Rows[list][:to:to], f.Rows[list][to+1:]...)
	case from >= 0:
		f.Rows[list] = append(f.Rows[list], saved.Rows[list][from])
	}
}

// take copies a property's fields, except the one in which an item is chosen.
func (f Form) take(from Form, property string) {
	belongs := func(name string) bool {
		rest, ok := strings.CutPrefix(name, property)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[' && rest != AddSuffix)
	}
	for name := range f.Fields {
		if belongs(name) {
			delete(f.Fields, name)
		}
	}
	for name, value := range from.Fields {
		if belongs(name) {
			f.Fields[name] = value
		}
	}
}
