package importer

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPeek is how many bytes of a file are read to recognize it.
const maxPeek = 64 << 10

// kind is a format of files.
type kind struct {
	what    string // a name for people
	sources []From // possible sources; Auto takes the first
	read    func(f *fileReader, content *bufio.Reader, prefix []byte) error
}

// source returns the source of a file of this kind; asked is the user's choice.
func (k *kind) source(asked From) From {
	if asked == Auto {
		return k.sources[0]
	}
	return asked
}

var (
	lurkrExport  = &kind{"an export of Lurkr or Levelboard, or a page of its API", []From{Lurkr, Arcane}, jsonKind((*jsonFile).readLevels)}
	lurkrList    = &kind{"a list of members as Lurkr has them", []From{Lurkr, Arcane}, jsonKind((*jsonFile).readLevelsList)}
	mee6Page     = &kind{"a page of MEE6's leaderboard", []From{MEE6}, jsonKind((*jsonFile).readMEE6)}
	amariBoard   = &kind{"Amari's leaderboard", []From{Amari}, jsonKind((*jsonFile).readAmari)}
	amariWeekly  = &kind{"Amari's weekly leaderboard", []From{Amari}, jsonKind((*jsonFile).skipAmariWeekly)}
	amariRewards = &kind{"Amari's rewards", []From{Amari}, jsonKind((*jsonFile).readAmariRewards)}
	polarisAll   = &kind{"an export of Polaris with settings", []From{Polaris}, jsonKind((*jsonFile).readPolaris)}
	polarisList  = &kind{"an export of Polaris' XP", []From{Polaris}, jsonKind((*jsonFile).readPolarisList)}
	polarisText  = &kind{"an export of Polaris as text", []From{Polaris}, (*fileReader).readPolarisText}
	levelUpGuild = &kind{"a LevelUp backup of a guild", []From{LevelUp}, jsonKind((*jsonFile).readLevelUp)}
	levelUpAll   = &kind{"a LevelUp backup of all guilds", []From{LevelUp}, jsonKind((*jsonFile).readLevelUpAll)}
	tatsuBoard   = &kind{"Tatsu's rankings", []From{Tatsu}, jsonKind((*jsonFile).readTatsu)}
	table        = &kind{"a table", []From{CSV, Polaris}, (*fileReader).readCSV}
)

func jsonKind(read func(*jsonFile) error) func(*fileReader, *bufio.Reader, []byte) error {
	return func(f *fileReader, content *bufio.Reader, _ []byte) error {
		j := f.json(content)
		return j.whole(func() error { return read(j) })
	}
}

// recognise returns the kind of a file by its beginning. It fails if there is none, or if the user named another source.
func (f *fileReader) recognise(prefix []byte) (*kind, error) {
	text := bytes.TrimSpace(prefix)
	var found []*kind
	switch {
	case len(text) == 0:
		return nil, f.fail(0, "the file is empty", nil)
	case bytes.HasPrefix(text, []byte("\x1f\x8b")), bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return nil, f.fail(0, "the file is compressed; unpack it, or save the spreadsheet as CSV", nil)
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text[:min(2, len(text))], 0) >= 0:
		return nil, f.fail(0, "the file is UTF-16; save it as UTF-8", nil)
	case text[0] == '{' || text[0] == '[':
		found = jsonKinds(text[0] == '[', properties(prefix))
	case polarisLine.Match(firstLine(text)):
		found = []*kind{polarisText}
	case findColumns(firstLine(text)) != nil:
		found = []*kind{table}
	}
	switch {
	case len(found) == 0:
		return nil, f.fail(0, "this is no file that can be imported; a table needs a first line with the names of its columns, "+
			"one of them \"userId\" and one of them \"xp\" or \"level\"", nil)
	case len(found) > 1:
		return nil, f.fail(0, fmt.Sprintf("this may be %s or %s", found[0].what, found[1].what), nil)
	case f.o.From != Auto && !slices.Contains(found[0].sources, f.o.From):
		return nil, f.fail(0, fmt.Sprintf("this looks like %s, not like a file of %s; name another source, or none", found[0].what, f.o.From), nil)
	}
	return found[0], nil
}

// jsonKinds returns the possible kinds of a JSON file with these properties.
func jsonKinds(list bool, has map[string]bool) (found []*kind) {
	add := func(k *kind, is bool) {
		if is {
			found = append(found, k)
		}
	}
	if list {
		add(lurkrList, has["#/userId"])
		add(polarisList, has["#/id"] && has["#/xp"])
		return found
	}
	add(lurkrExport, has["levels"])
	add(mee6Page, has["players"])
	add(amariRewards, has["data/#/roleID"])
	add(amariWeekly, has["data/#/exp"] && !has["data/#/level"])
	add(amariBoard, has["data"] && !has["data/#/roleID"] && (has["data/#/level"] || !has["data/#/exp"]))
	add(tatsuBoard, has["rankings"])
	add(levelUpAll, has["configs"])
	polaris := has["users"] && (has["settings"] || has["users/#/cooldown"])
	add(polarisAll, polaris)
	add(levelUpGuild, has["users"] && !polaris)
	return found
}

// properties returns the names in the beginning of a JSON file, as data/#/level. # stands for an index in a
// list and for an id. Long names are cut, since paths with them would need far more memory than the file.
func properties(prefix []byte) map[string]bool {
	const deepest, longest = 3, 40
	seen := make(map[string]bool)
	dec := jsontext.NewDecoder(bytes.NewReader(prefix), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var path [deepest]string
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return seen
		}
		depth := dec.StackDepth()
		if depth == 0 || depth > deepest {
			continue
		}
		switch kind, length := dec.StackIndex(depth); {
		case kind == '[':
			path[depth-1] = "#"
		case length%2 == 1: // the token is a name
			name := token.String()
			if isDigits(name) {
				name = "#"
			}
			path[depth-1] = name[:min(len(name), longest)]
			seen[strings.Join(path[:depth], "/")] = true
		}
	}
}

// polarisLine is a line of Polaris' text: an id and XP.
var polarisLine = regexp.MustCompile(`^\d{17,19} - \d+$`)

func firstLine(text []byte) []byte {
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		return text[:end]
	}
	return text
}
