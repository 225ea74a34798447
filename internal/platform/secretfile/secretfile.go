// Package secretfile reads secrets from files. A variable with the suffix _FILE names the file.
package secretfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Suffix ends the name of a variable that holds the path of a secret's file.
const Suffix = "_FILE"

// Resolve puts the secret of a file into vars, as if it had been given directly.
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

// Read reads the secret file at path; name is the setting, for errors.
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

// PlainPathError drops the path from an error of the file system, since the path may be the secret itself, put there by mistake.
func PlainPathError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
