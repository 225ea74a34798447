// Package secretfile reads secrets that stand in files, which variables with the suffix _FILE name.
package secretfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Suffix ends the name of a variable that holds the path of a file with a secret.
const Suffix = "_FILE"

// Resolve puts a secret that stands in a file into vars, as if it had been given directly.
func Resolve(vars map[string]string, name string) error {
	path := vars[name+Suffix]
	if path == "" {
		return nil
	}
	if vars[name] != "" {
		return fmt.Errorf("%s and %s are both set: set only one of them", name, name+Suffix)
	}
	secret, err := Read(path, name)
	if err != nil {
		return err
	}
	vars[name] = secret
	return nil
}

// Read reads the file of a setting.
func Read(path, name string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", name+Suffix, PlainPathError(err))
	}
	secret := strings.TrimRight(string(content), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s names an empty file", name+Suffix)
	}
	return secret, nil
}

// PlainPathError drops the path from an error of the file system: somebody may have put the secret itself where its
// file's name belongs.
func PlainPathError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
