package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Temporary makes n files in a folder, "" for the system's. They are gone with the process, however it ends, where the system can do that, and
// by remove.
func Temporary(dir string, n int) (files []*os.File, remove func(), err error) {
	remove = func() {
		for _, f := range files {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}
	for range n {
		f, err := os.CreateTemp(dir, "levelboard-import-*")
		if err != nil {
			remove()
			return nil, nil, fmt.Errorf("a temporary file cannot be made: %w", err)
		}
		_ = os.Remove(f.Name())
		files = append(files, f)
	}
	return files, remove, nil
}

// HashOf identifies files, in whatever order they are given, by their SHA-256: 64 hexadecimal digits.
func HashOf(files [][]byte) string {
	sums := make([]string, len(files))
	for n, sum := range files {
		sums[n] = hex.EncodeToString(sum)
	}
	slices.Sort(sums)
	all := sha256.Sum256([]byte(strings.Join(sums, "\n")))
	return hex.EncodeToString(all[:])
}
