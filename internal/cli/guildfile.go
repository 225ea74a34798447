package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDocument bounds what is read as a guild's document; the service takes far less.
const maxDocument = 1 << 20

// readDocument reads a guild's document and the id in it. The rest of it is for the service to judge, as it stands.
func (p *program) readDocument(file string) (document []byte, guild string, err error) {
	in := p.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, "", fmt.Errorf("the guild's document cannot be opened: %w", err)
		}
		defer f.Close()
		in = f
	}
	document, err = io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be read: %w", documentName(file), err)
	}
	if len(document) > maxDocument {
		return nil, "", fmt.Errorf("%s is too long for a guild's document", documentName(file))
	}
	if guild, err = idIn(document); err != nil {
		return nil, "", fmt.Errorf("%s %w", documentName(file), err)
	}
	return document, guild, nil
}

func documentName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// idIn returns the guild's id in a document that is to be applied. Its errors follow the document's name. What else is in the
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
		ID jsontext.Value `json:"id"`
	}
	if err := json.Unmarshal(value, &found, jsontext.AllowDuplicateNames(true)); err != nil {
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
func oneValue(document []byte) (value jsontext.Value, err error) {
	// Both look right in an editor, and are written by PowerShell.
	if bytes.HasPrefix(document, []byte("\ufeff")) || !utf8.Valid(document) {
		return nil, errors.New("must be UTF-8 without a byte order mark: save it so")
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(document), jsontext.AllowDuplicateNames(true))
	value, err = decoder.ReadValue()
	value = bytes.Clone(value)
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("is empty: it must hold a guild's settings as a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("is not complete JSON: it ends too early")
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("is not JSON: see %s", position(document, int(syntax.ByteOffset)))
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
func kindOf(value jsontext.Value) string {
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
