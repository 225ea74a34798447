// Command release builds the files of a version: an archive and a software bill of materials for each platform, and SHA256SUMS of all.
// The same commit, built with the same Go anywhere, gives the same bytes.
//
//	cd scripts/packages && go run ./release --version v1.2.3 --time 1767225600 --out ../../dist/release
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// platforms are the published ones.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// release is a version being built.
type release struct {
	tree    string // the repository
	out     string
	version string
	time    time.Time // of all files
}

func main() {
	version := flag.String("version", "", "the version's name")
	seconds := flag.Int64("time", 0, "the time of the files, in seconds since 1970: that of the commit")
	tree := flag.String("tree", "../..", "the repository")
	out := flag.String("out", "../../dist/release", "where to; an earlier release is taken out of it")
	which := flag.String("platforms", platforms, "what to build for, with commas; native is this machine's")
	flag.Parse()
	if *version == "" || *seconds <= 0 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "release: --version and --time are needed, and nothing without a name")
		os.Exit(2)
	}
	r := release{tree: *tree, out: *out, version: *version, time: time.Unix(*seconds, 0).UTC()}
	if err := r.run(strings.Split(*which, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r release) run(platforms []string) error {
	if strings.ContainsAny(r.version, "/\\ \t\n") {
		return fmt.Errorf("the version %q cannot be part of a file's name", r.version)
	}
	if err := r.clear(); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "levelboard-release-")
	if err != nil {
		return fmt.Errorf("make a directory to work in: %w", err)
	}
	defer os.RemoveAll(work)
	for _, platform := range platforms {
		if platform == "native" {
			platform = runtime.GOOS + "/" + runtime.GOARCH
		}
		goos, goarch, found := strings.Cut(platform, "/")
		if !found {
			return fmt.Errorf("%q is no platform such as linux/amd64", platform)
		}
		if err := r.build(filepath.Join(work, goos+"-"+goarch), goos, goarch); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return writeSums(r.out)
}

// clear makes the directory and removes the files of an earlier release.
func (r release) clear() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", r.out, err)
	}
	earlier, err := published(r.out)
	if err != nil {
		return err
	}
	for _, name := range append(earlier, sumsFile) {
		if err := os.Remove(filepath.Join(r.out, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("take an earlier release out of %s: %w", r.out, err)
		}
	}
	return nil
}

// build makes the archive and the bill of materials of a platform.
func (r release) build(work, goos, goarch string) error {
	name := "levelboard_" + strings.TrimPrefix(r.version, "v") + "_" + goos + "_" + goarch
	var files []entry
	var binaries []string
	for _, program := range []string{"levelboard", "levelboard-bot"} {
		binary := filepath.Join(work, program)
		if goos == "windows" {
			binary += ".exe"
		}
		if err := compile(r.tree, program, binary, r.version, goos, goarch); err != nil {
			return err
		}
		binaries = append(binaries, binary)
		files = append(files, entry{name: filepath.Base(binary), source: binary, mode: 0o755})
	}
	info, err := modulesOf(binaries)
	if err != nil {
		return err
	}
	licenses := filepath.Join(work, licensesFile)
	if err := r.writeLicenses(licenses, binaries); err != nil {
		return err
	}
	files = append(files, []entry{
		{name: "LICENSE", source: filepath.Join(r.tree, "LICENSE"), mode: 0o644},
		{name: licensesFile, source: licenses, mode: 0o644},
		{name: "README.md", source: filepath.Join(r.tree, "README.md"), mode: 0o644},
	}...)
	if goos == "linux" {
		for _, file := range []string{"levelboard.env", "levelboard.service", "levelboard-bot.env", "levelboard-bot.service"} {
			files = append(files, entry{name: "systemd/" + file, source: filepath.Join(r.tree, "deploy/systemd", file), mode: 0o644})
		}
	}
	pack, extension := writeTar, ".tar.gz"
	if goos == "windows" {
		pack, extension = writeZip, ".zip"
	}
	archive := filepath.Join(r.out, name+extension)
	if err := create(archive, func(f *os.File) error { return pack(f, name, files, r.time) }); err != nil {
		return err
	}
	if err := r.writeBill(filepath.Join(r.out, name+".cdx.json"), binaries, info); err != nil {
		return err
	}
	written, err := os.Stat(archive)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %.1f MB\n", filepath.Base(archive), float64(written.Size())/1e6)
	return nil
}
