package period_test

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // embedded, as in the binary
)

// The years that the tests cover, and a margin.
var (
	from = time.Date(2019, time.December, 25, 0, 0, 0, 0, time.UTC)
	to   = time.Date(2041, time.January, 10, 0, 0, 0, 0, time.UTC)
)

// zone is a time zone and the instants at which its offset changes.
type zone struct {
	*time.Location
	changes []time.Time
}

// zones returns the time zones of the Go installation, which are those of package time/tzdata.
func zones(t *testing.T) (list []zone) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, file := range archive.File {
		if !file.FileInfo().IsDir() {
			z := load(t, file.Name)
			list = append(list, zone{z, changesOf(z, from, to)})
		}
	}
	if len(list) < 300 {
		t.Fatalf("the Go installation has %d time zones, want at least 300", len(list))
	}
	return list
}

// changesOf finds the changes of the offset by steps of days, then closer. ZoneBounds is wrong at the end of leap years (golang/go#81583).
func changesOf(z *time.Location, from, to time.Time) (changes []time.Time) {
	const step = 4 * 24 * time.Hour // changes are weeks apart
	earlier := offsetAt(from, z)
	for a := from; a.Before(to); a = a.Add(step) {
		later := offsetAt(a.Add(step), z)
		if later != earlier {
			before, after := a, a.Add(step)
			for after.Sub(before) > time.Second {
				middle := before.Add(after.Sub(before) / 2).Truncate(time.Second)
				if offsetAt(middle, z) == earlier {
					before = middle
				} else {
					after = middle
				}
			}
			changes = append(changes, after)
		}
		earlier = later
	}
	return changes
}

func offsetAt(t time.Time, z *time.Location) int {
	_, offset := t.In(z).Zone()
	return offset
}

// load returns a zone by name.
func load(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}
