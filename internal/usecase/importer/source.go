package importer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// From is the name of a file's source, as a user types it.
type From string

// The sources.
const (
	Auto    From = "auto"  // recognized by its content; never Arcane
	Lurkr   From = "lurkr" // the hosted service; also Levelboard's export and pages of this API
	MEE6    From = "mee6"
	Amari   From = "amari"
	Polaris From = "polaris"
	LevelUp From = "levelup"
	Arcane  From = "arcane"
	Tatsu   From = "tatsu"
	CSV     From = "csv"
)

// Sources are all sources, in the order of the documentation.
var Sources = []From{Auto, Lurkr, MEE6, Amari, Polaris, LevelUp, Arcane, Tatsu, CSV}

// ParseFrom returns the source with a name. The error lists the sources.
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

// File is one of the files of an import. Open is called once, when it is the file's turn. The reader closes the result.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Options say how to read files. Curve is the guild's current curve. It turns levels into XP for a file without XP.
type Options struct {
	From        From     // empty means Auto
	Guild       id.Guild // the guild that is imported into
	SourceGuild id.Guild // the guild to read from a LevelUp file of all guilds; Guild if empty
	Curve       level.Curve
}

// FileError says that a file cannot be imported.
type FileError struct {
	File    string
	Line    int      // 0 if it is not about a line
	Message string   // empty if Cause says it
	Cause   error    // may be nil
	Guilds  []string // the guilds of a backup that lacks the requested one
}

// Error returns the file, the line and the message.
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
