package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const sumsFile = "SHA256SUMS"

// published returns the names of a release's files in order.
func published(directory string) ([]string, error) {
	files, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", directory, err)
	}
	var names []string
	for _, file := range files {
		if strings.HasPrefix(file.Name(), "levelboard_") {
			names = append(names, file.Name())
		}
	}
	return names, nil
}

// writeSums writes the checksums of a release's files in sha256sum's format.
func writeSums(directory string) error {
	names, err := published(directory)
	if err != nil {
		return err
	}
	return create(filepath.Join(directory, sumsFile), func(sums *os.File) error {
		for _, file := range names {
			sum, err := sumOf(filepath.Join(directory, file))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(sums, "%x  %s\n", sum, file); err != nil {
				return err
			}
		}
		return nil
	})
}

func sumOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return hash.Sum(nil), nil
}
