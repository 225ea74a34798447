package importer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// From names where a file comes from, as a user writes it.
type From string

// The sources.
const (
	Auto    From = "auto"  // whatever the file looks like, but never Arcane
	Lurkr   From = "lurkr" // the hosted service, the export of Levelboard and pages of this API too
	MEE6    From = "mee6"
	Amari   From = "amari"
	Polaris From = "polaris"
	LevelUp From = "levelup"
	Arcane  From = "arcane"
	Tatsu   From = "tatsu"
	CSV     From = "csv"
)

// Sources are all of them, in the order in which they are documented.
var Sources = []From{Auto, Lurkr, MEE6, Amari, Polaris, LevelUp, Arcane, Tatsu, CSV}

// ParseFrom returns the source of a name. The error says which there are.
func ParseFrom(name string) (From, error) {
	if slices.Contains(Sources, From(name)) {
		return From(name), nil
	}
	names := make([]string, len(Sources))
	for i, s := range Sources {
		names[i] = string(s)
	}
	return "", fmt.Errorf("%q is no source; use one of %s", name, strings.Join(names, ", "))
}

// File is one of the files of an import. Open is called once, when its turn comes, and the result closed.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Options say how to read files. Curve is the guild's current one: it turns the levels of a file without XP into XP.
type Options struct {
	From        From     // Auto when empty
	Guild       id.Guild // that is imported into
	SourceGuild id.Guild // whose entry a LevelUp file of all guilds has; Guild when empty
	Curve       level.Curve
}

// FileError is a mistake in a file as a whole.
type FileError struct {
	File    string
	Line    int      // 0 when it is not about a line
	Message string   // empty when Cause says it
	Cause   error    // may be nil
	Guilds  []string // the guilds of a backup that lacks the requested one
}

// Error is the file, the line and the message.
func (e *FileError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Message == "" {
		return fmt.Sprintf("%s: %v", at, e.Cause)
	}
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", at, e.Message, e.Cause)
	}
	return at + ": " + e.Message
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Cause }
