package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Temporary makes a file in a folder, "" for the system's. It is gone with the process, however that ends, where the system can do that, and by
// remove.
func Temporary(dir string) (file *os.File, remove func(), err error) {
	file, err = os.CreateTemp(dir, "levelboard-import-*")
	if err != nil {
		return nil, nil, fmt.Errorf("a temporary file cannot be made: %w", err)
	}
	_ = os.Remove(file.Name())
	return file, func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}, nil
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
