package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// entry is a file of an archive. Only its bytes come from the source.
type entry struct {
	name, source string
	mode         fs.FileMode
}

// create writes a file completely, or leaves none.
func create(name string, write func(*os.File) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(name))
	}
	return nil
}

// writeTar writes the entries in order under the directory, with no owner and the same time.
func writeTar(w io.Writer, directory string, entries []entry, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, e := range entries {
		content, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := tar.Header{
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: path.Join(directory, e.name),
			Size: int64(len(content)), Mode: int64(e.mode), ModTime: at.UTC(),
		}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// writeZip is writeTar for Windows.
func writeZip(w io.Writer, directory string, entries []entry, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		content, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := zip.FileHeader{Name: path.Join(directory, e.name), Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(e.mode)
		file, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := file.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}
