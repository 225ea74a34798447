package importer

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Exported is a member in an export.
type Exported struct {
	leaderboard.Member
	Present bool
	Hidden  hidden.Flags
}

// Format is a format of exports.
type Format string

// The formats.
const (
	FormatJSON Format = "json"
	FormatCSV  Format = "csv"
)

// Valid reports whether f is one of the formats.
func (f Format) Valid() bool { return f == FormatJSON || f == FormatCSV }

// MediaType returns the media type of Export's output.
func (f Format) MediaType() string {
	if f == FormatCSV {
		return "text/csv; charset=utf-8"
	}
	return "application/json"
}

// Export writes members, with levels by the guild's curve. It holds one member in
// memory. It stops at the first error in all; its output is then no valid export.
func Export(w io.Writer, f Format, curve level.Curve, all iter.Seq2[Exported, error]) error {
	if f == FormatCSV {
		return exportCSV(w, curve, all)
	}
	return exportJSON(w, curve, all)
}

type exportedJSON struct {
	UserID       id.User     `json:"userId"`
	XP           level.XP    `json:"xp"`
	Level        level.Level `json:"level"`
	MessageCount int64       `json:"messageCount"`
	LastUpdated  *string     `json:"lastUpdated"` // null if not known
	Present      bool        `json:"present"`
	User         struct {
		Avatar        *string `json:"avatar"`
		Discriminator string  `json:"discriminator"`
		GlobalName    *string `json:"globalName"`
		Username      string  `json:"username"`
	} `json:"user"`
	Hidden []string `json:"hidden"`
}

func exportJSON(w io.Writer, curve level.Curve, all iter.Seq2[Exported, error]) error {
	out := bufio.NewWriter(w)
	_, err := out.WriteString(`{"levels":[`)
	separator := "\n"
	for m, broken := range all {
		if err = cmp.Or(broken, err); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		row := exportedJSON{UserID: m.UserID, XP: m.XP, Level: curve.LevelAt(m.XP), MessageCount: m.MessageCount, Present: m.Present, Hidden: m.Hidden.Words()}
		if updated := exportedTime(m.LastUpdated); updated != "" {
			row.LastUpdated = &updated
		}
		row.User.Avatar, row.User.Discriminator = m.User.Avatar, m.User.Discriminator
		row.User.GlobalName, row.User.Username = m.User.GlobalName, m.User.Username
		out.WriteString(separator) // Flush returns its error
		err = json.MarshalWrite(out, row)
		separator = ",\n"
	}
	out.WriteString("\n]}\n")
	if err := cmp.Or(err, out.Flush()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

var exportedColumns = []string{
	"userId", "xp", "level", "messageCount", "lastUpdated", "present", "username", "globalName", "discriminator", "avatar", "hidden",
}

func exportCSV(w io.Writer, curve level.Curve, all iter.Seq2[Exported, error]) error {
	out := csv.NewWriter(w)
	err := out.Write(exportedColumns)
	for m, broken := range all {
		if err = cmp.Or(broken, err); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		err = out.Write([]string{
			string(m.UserID), strconv.FormatInt(int64(m.XP), 10), strconv.Itoa(int(curve.LevelAt(m.XP))), strconv.FormatInt(m.MessageCount, 10),
			exportedTime(m.LastUpdated), strconv.FormatBool(m.Present),
			guarded(&m.User.Username, false), guarded(m.User.GlobalName, true), guarded(&m.User.Discriminator, false), guarded(m.User.Avatar, true),
			m.Hidden.String(),
		})
	}
	out.Flush()
	if err := cmp.Or(err, out.Error()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// guarded returns a field of a table. Readers of CSV read CR LF as a line feed, even between quotes, so CR is written twice before LF.
func guarded(field *string, nullable bool) string {
	if field == nil {
		return ""
	}
	return strings.ReplaceAll(guard(*field, nullable), "\r\n", "\r\r\n")
}

// TimeFormat is RFC 3339 with milliseconds, for the API and exports.
const TimeFormat = "2006-01-02T15:04:05.000Z07:00"

// exportedTime returns RFC 3339 in UTC with milliseconds, or "" for an unknown time.
func exportedTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(TimeFormat)
}
