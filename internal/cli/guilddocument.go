package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// guildDocument is what is shown of a guild's document to people.
type guildDocument struct {
	ID                 string          `json:"id"`
	Name               string          `json:"name"`
	MemberCount        int             `json:"memberCount"`
	OwnerID            string          `json:"ownerId"`
	AdminIDs           []string        `json:"adminIds"`
	Enabled            bool            `json:"enabled"`
	Visibility         string          `json:"visibility"`
	Vanity             *string         `json:"vanity"`
	Curve              json.RawMessage `json:"curve"`
	XPGainInterval     int64           `json:"xpGainInterval"`
	XPPerMessageMin    int             `json:"xpPerMessageMin"`
	XPPerMessageMax    int             `json:"xpPerMessageMax"`
	XPGlobalMultiplier float64         `json:"xpGlobalMultiplier"`
	IgnoredChannelIDs  []string        `json:"ignoredChannelIds"`
	IgnoredRoleIDs     []string        `json:"ignoredRoleIds"`
	Multipliers        []struct {
		Type       string  `json:"type"`
		Multiplier float64 `json:"multiplier"`
		Targets    []named `json:"targets"`
	} `json:"multipliers"`
	RoleRewards []struct {
		Level int     `json:"level"`
		Stack bool    `json:"stack"`
		Roles []named `json:"roles"`
	} `json:"roleRewards"`
}

type named struct {
	Name string `json:"name"`
}

// idIn returns the guild's id in a document that is to be applied. Its errors go on after the document's name. What else is in the
// document is the service's to judge.
func idIn(document []byte) (string, error) {
	value, err := oneValue(document)
	if err != nil {
		return "", err
	}
	if kind := kindOf(value); kind != "an object" {
		return "", fmt.Errorf("must be a JSON object, as 'levelboard guild get ID --json' prints it, not %s", kind)
	}
	var found struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(value, &found); err != nil {
		return "", errors.New("is not a guild's document")
	}
	var guild *string
	if found.ID != nil && json.Unmarshal(found.ID, &guild) != nil {
		return "", fmt.Errorf("has %s as \"id\": write the guild's id as a string, in quotes", kindOf(found.ID))
	}
	if guild == nil {
		return "", errors.New("has no id: add the guild's id as \"id\"")
	}
	return *guild, nil
}

// oneValue returns the JSON value that a document consists of, without the blanks around it.
func oneValue(document []byte) (value json.RawMessage, err error) {
	// Both look right in an editor, and are written by PowerShell.
	if bytes.HasPrefix(document, []byte("\ufeff")) || !utf8.Valid(document) {
		return nil, errors.New("must be UTF-8 without a byte order mark: save it so")
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	err = decoder.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("is empty: it must hold a guild's settings as a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("is not complete JSON: it ends too early")
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("is not JSON: see %s", position(document, int(syntax.Offset)-1))
	case err != nil:
		return nil, errors.New("is not JSON")
	}
	rest := document[decoder.InputOffset():]
	if after := bytes.TrimLeft(rest, " \t\r\n"); len(after) > 0 {
		return nil, fmt.Errorf("must be one JSON object with nothing after it: see %s", position(document, len(document)-len(after)))
	}
	return value, nil
}

// position says where the byte at offset is, as editors count.
func position(text []byte, offset int) string {
	before := text[:min(max(offset, 0), len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// kindOf says what a JSON value without blanks before it is.
func kindOf(value json.RawMessage) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

func readGuild(document []byte) (guildDocument, error) {
	var g guildDocument
	if err := json.Unmarshal(document, &g); err != nil {
		return g, fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	return g, nil
}

// board says who may read the board, and its vanity.
func (g guildDocument) board() string {
	if g.Vanity == nil {
		return g.Visibility
	}
	return g.Visibility + ", " + *g.Vanity
}

func (g guildDocument) leveling() string {
	if g.Enabled {
		return "enabled"
	}
	return "disabled"
}

// facts are the lines of `guild get`, a name and a value each.
func (g guildDocument) facts() [][]string {
	facts := [][]string{
		{"  id", g.ID},
		{"  owner", g.OwnerID},
		{"  administrators", joined(g.AdminIDs)},
		{"  members", strconv.Itoa(g.MemberCount)},
		{"  board", g.board()},
		{"  leveling", g.leveling()},
		{"  curve", strings.Trim(string(g.Curve), `"`)},
		{"  XP per message", fmt.Sprintf("%d to %d, times %s, once in %s", g.XPPerMessageMin, g.XPPerMessageMax,
			number(g.XPGlobalMultiplier), time.Duration(g.XPGainInterval)*time.Millisecond)},
		{"  ignored channels", joined(g.IgnoredChannelIDs)},
		{"  ignored roles", joined(g.IgnoredRoleIDs)},
	}
	for _, m := range g.Multipliers {
		facts = append(facts, []string{"  multiplier", fmt.Sprintf("%s for the %s %s", number(m.Multiplier), strings.ToLower(m.Type), names(m.Targets))})
	}
	for _, r := range g.RoleRewards {
		line := fmt.Sprintf("level %d: %s", r.Level, names(r.Roles))
		if !r.Stack {
			line += " (until the next reward)"
		}
		facts = append(facts, []string{"  reward", line})
	}
	return facts
}

func names(list []named) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = printable(n.Name)
	}
	return joined(texts)
}

func joined(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
