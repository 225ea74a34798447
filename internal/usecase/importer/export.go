package importer

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Exported is a member as an export has it.
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

// MediaType is the media type of Export's output.
func (f Format) MediaType() string {
	if f == FormatCSV {
		return "text/csv; charset=utf-8"
	}
	return "application/json"
}

// Export writes members, with levels by the guild's curve, and holds one at a time. It stops at the members' first error; its output is then no
// valid export.
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
	LastUpdated  *string     `json:"lastUpdated"` // null when not known
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
	out.WriteString(`{"levels":[`) // a failure stays until Flush
	separator := "\n"
	for m, err := range all {
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		row := exportedJSON{UserID: m.UserID, XP: m.XP, Level: curve.LevelAt(m.XP), MessageCount: m.MessageCount, Present: m.Present, Hidden: m.Hidden.Words()}
		if updated := exportedTime(m.LastUpdated); updated != "" {
			row.LastUpdated = &updated
		}
		row.User.Avatar, row.User.Discriminator = m.User.Avatar, m.User.Discriminator
		row.User.GlobalName, row.User.Username = m.User.GlobalName, m.User.Username
		line, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("export member %s: %w", m.UserID, err)
		}
		out.WriteString(separator)
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		separator = ",\n"
	}
	out.WriteString("\n]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

var exportedColumns = []string{
	"userId", "xp", "level", "messageCount", "lastUpdated", "present", "username", "globalName", "discriminator", "avatar", "hidden",
}

func exportCSV(w io.Writer, curve level.Curve, all iter.Seq2[Exported, error]) error {
	out := csv.NewWriter(w)
	if err := out.Write(exportedColumns); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for m, err := range all {
		if err == nil {
			err = out.Write([]string{
				string(m.UserID), strconv.FormatInt(int64(m.XP), 10), strconv.Itoa(int(curve.LevelAt(m.XP))), strconv.FormatInt(m.MessageCount, 10),
				exportedTime(m.LastUpdated), strconv.FormatBool(m.Present),
				guard(m.User.Username, false), guarded(m.User.GlobalName), guard(m.User.Discriminator, false), guarded(m.User.Avatar), m.Hidden.String(),
			})
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func guarded(field *string) string {
	if field == nil {
		return ""
	}
	return guard(*field, true)
}

// TimeFormat is RFC 3339 with milliseconds, in the API and in exports.
const TimeFormat = "2006-01-02T15:04:05.000Z07:00"

// exportedTime is RFC 3339 in UTC with milliseconds; empty when the time is not known.
func exportedTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(TimeFormat)
}
