package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// licensesFile is in every archive and image, with the terms that the licences of the modules and of Go require.
const licensesFile = "THIRD-PARTY-LICENSES"

// writeLicenses writes the terms of each module. A module without terms is an error.
func (r release) writeLicenses(path string, binaries []string) error {
	return create(path, func(f *os.File) error {
		command := exec.Command(filepath.Join(r.tree, "scripts/licenses"), binaries...)
		command.Stdout, command.Stderr = f, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("scripts/licenses: %w", err)
		}
		return nil
	})
}
