package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pinned fixes what determines a binary's bytes besides the source and Go's version.
var pinned = []string{"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "CGO_ENABLED=0"}

// compile builds a program with the Makefile's rule, as the image and the size test do.
func compile(tree, program, binary, version, goos, goarch string) error {
	out, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	build := exec.Command("make", "--no-print-directory", "static", "PROGRAM="+program, "OUT="+out, "VERSION="+version)
	build.Dir = tree
	for _, variable := range os.Environ() {
		// An outer make exports settings for inner makes.
		if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") {
			build.Env = append(build.Env, variable)
		}
	}
	build.Env = append(build.Env, pinned...)
	build.Env = append(build.Env, "GOOS="+goos, "GOARCH="+goarch)
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, output)
	}
	return nil
}
