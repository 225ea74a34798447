package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// source writes the same bytes to a file with another name, time and mode each time.
func source(t *testing.T, mode os.FileMode) []entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some file")
	if err := os.WriteFile(path, bytes.Repeat([]byte("levelboard "), 1000), mode); err != nil {
		t.Fatal(err)
	}
	return []entry{{name: "levelboard", source: path, mode: 0o755}}
}

func TestAnArchiveDoesNotDependOnItsPlace(t *testing.T) {
	for name, pack := range map[string]func(io.Writer, string, []entry, time.Time) error{"tar.gz": writeTar, "zip": writeZip} {
		var first, second bytes.Buffer
		if err := pack(&first, "levelboard_1", source(t, 0o600), at); err != nil {
			t.Fatal(err)
		}
		if err := pack(&second, "levelboard_1", source(t, 0o755), at.In(time.FixedZone("elsewhere", 3600))); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("two archives in %s of the same bytes differ", name)
		}
	}
}

func TestAnArchiveHasNamesModesAndTimes(t *testing.T) {
	var packed bytes.Buffer
	if err := writeTar(&packed, "levelboard_1", source(t, 0o600), at); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	header, err := tar.NewReader(unzipped).Next()
	if err != nil {
		t.Fatal(err)
	}
	if header.Name != "levelboard_1/levelboard" || header.Mode != 0o755 || !header.ModTime.Equal(at) || header.Uname != "" || header.Uid != 0 {
		t.Errorf("the tar has %+v, want levelboard_1/levelboard of nobody", header)
	}

	packed.Reset()
	if err := writeZip(&packed, "levelboard_1", source(t, 0o600), at); err != nil {
		t.Fatal(err)
	}
	unpacked, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if file := unpacked.File[0]; file.Name != "levelboard_1/levelboard" || file.Mode() != 0o755 || !file.Modified.Equal(at) {
		t.Errorf("the zip has %+v, want levelboard_1/levelboard", file.FileHeader)
	}
}

func TestAReleaseRemovesOnlyAnEarlierRelease(t *testing.T) {
	r := release{out: t.TempDir()}
	for _, name := range []string{"levelboard_0_linux_amd64.tar.gz", "notes.txt", sumsFile} {
		if err := os.WriteFile(filepath.Join(r.out, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.clear(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("the files left are %v, want notes.txt", left)
	}
}

func TestAFailedWriteLeavesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive")
	broken := errors.New("broken")
	if err := create(path, func(f *os.File) error { _, _ = f.WriteString("half"); return broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want the writer's", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the failed write left a file: %v", err)
	}
}

func TestTheBillListsTheBinarysModules(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Deps: []*debug.Module{
			{Path: "example.org/used", Version: "v1.2.3", Sum: "h1:JdU0squ73hT0G45GVKzZ8KXS8ImiFuPHAA36aWaCfMM="},
			{Path: "example.org/replaced", Version: "v1.0.0", Replace: &debug.Module{Path: "./fork"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}},
	}
	bill := release{version: "v0.8.0", time: at}.bill(info, "abc")
	var purls []string
	for _, component := range *bill.Components {
		purls = append(purls, component.PackageURL)
	}
	if len(purls) != 2 || purls[0] != "pkg:golang/std@1.26.8" || purls[1] != "pkg:golang/example.org/used@v1.2.3" {
		t.Errorf("the bill lists %v, want Go's standard library and the used module", purls)
	}
	if hash := (*(*bill.Components)[1].Hashes)[0].Value; hash != "25d534b2abbbde14f41b8e4654acd9f0a5d2f089a216e3c7000dfa6966827cc3" {
		t.Errorf("the module's hash is %s, want that of go.sum", hash)
	}
	if purl := bill.Metadata.Component.PackageURL; purl != "pkg:generic/levelboard@v0.8.0?os=linux&arch=arm64" {
		t.Errorf("the bill describes %s, want the program for linux and arm64", purl)
	}
	if other := (release{version: "v0.8.0", time: at}).bill(info, "abd"); other.SerialNumber == bill.SerialNumber {
		t.Error("the bills of two binaries have the same serial number")
	}
}
