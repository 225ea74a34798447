package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
)

// licensesFile is in every archive: what the licences of the modules in the binaries, and of Go, ask to be given along.
const licensesFile = "THIRD-PARTY-LICENSES"

// isLicense matches the names of files that hold the terms of a module.
var isLicense = regexp.MustCompile(`(?i)^(.*-)?(licen[cs]e|copying|copyright|notice|patents)(-[^.]*)?([.](txt|md))?$`)

// writeLicenses writes the terms of each module, under its name and version. A module without any is an error.
func (r release) writeLicenses(path string, info *debug.BuildInfo) error {
	root, err := r.goCommand("env", "GOROOT")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := appendTerms(&out, info.GoVersion, string(bytes.TrimSpace(root))); err != nil {
		return err
	}
	arguments := []string{"mod", "download", "-json"}
	for _, module := range info.Deps {
		if module.Replace == nil { // what a directory replaces is ours
			arguments = append(arguments, module.Path+"@"+module.Version)
		}
	}
	found, err := r.goCommand(arguments...)
	if err != nil {
		return err
	}
	for modules := json.NewDecoder(bytes.NewReader(found)); ; {
		var module struct{ Path, Version, Dir string }
		if err := modules.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read the list of modules: %w", err)
		}
		if err := appendTerms(&out, module.Path+" "+module.Version, module.Dir); err != nil {
			return err
		}
	}
	return create(path, func(f *os.File) error { _, err := f.Write(out.Bytes()); return err })
}

// appendTerms appends the files of a directory that hold terms.
func appendTerms(out *bytes.Buffer, name, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for the licence of %s: %w", name, err)
	}
	before := out.Len()
	for _, file := range files {
		if !file.Type().IsRegular() || !isLicense.MatchString(file.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return fmt.Errorf("read the licence of %s: %w", name, err)
		}
		fmt.Fprintf(out, "==== %s: %s\n\n%s\n\n", name, file.Name(), bytes.TrimSpace(text))
	}
	if out.Len() == before {
		return fmt.Errorf("%s has no licence in %s", name, dir)
	}
	return nil
}

// goCommand returns what the go command prints, in the repository.
func (r release) goCommand(arguments ...string) ([]byte, error) {
	command := exec.Command("go", arguments...)
	command.Dir, command.Stderr = r.tree, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", arguments[0], err)
	}
	return out, nil
}
