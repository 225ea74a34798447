package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

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

// withID is any guild's document.
type withID struct {
	ID *string `json:"id"`
}

// idIn returns the guild's id in a document that is to be applied. Its errors follow the document's name. What else is in the
// document is the service's to judge.
func idIn(document []byte) (string, error) {
	var found withID
	err := json.Unmarshal(document, &found, jsontext.AllowDuplicateNames(true))
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		// The library words these differently in each process, and names Go's types.
		err = errors.New("it must be a JSON object")
		if wrong.JSONPointer == "/id" {
			err = errors.New("its id must be a string")
		}
	}
	if err != nil {
		return "", fmt.Errorf("is no guild's document, as 'levelboard guild get ID --json' prints it: %w", err)
	}
	if found.ID == nil {
		return "", errors.New("has no id: add the guild's id as \"id\"")
	}
	return *found.ID, nil
}
