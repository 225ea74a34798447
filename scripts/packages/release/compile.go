package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pinned is what decides about the bytes of a binary, beside the source and Go's version.
var pinned = []string{"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "CGO_ENABLED=0"}

// compile builds a program with the Makefile's own rule, so that a release, the image and the size that is tested are one thing.
func compile(tree, program, binary, version, goos, goarch string) error {
	out, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	build := exec.Command("make", "--no-print-directory", "static", "PROGRAM="+program, "OUT="+out, "VERSION="+version)
	build.Dir = tree
	for _, variable := range os.Environ() {
		// An outer make hands on settings for that make.
		if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") {
			build.Env = append(build.Env, variable)
		}
	}
	build.Env = append(build.Env, pinned...)
	build.Env = append(build.Env, "GOOS="+goos, "GOARCH="+goarch)
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, output)
	}
	return nil
}
