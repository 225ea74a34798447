package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"

	"levelboard/internal/usecase/importer"
)

// open returns the files of the import, or the board of another service as one.
func (i *importing) open(ctx context.Context, p *program) []importer.File {
	if i.sourceURL != "" {
		return []importer.File{i.hashed(i.sourceURL, func() (io.ReadCloser, error) { return i.source(ctx), nil })}
	}
	files := make([]importer.File, len(i.files))
	for n, name := range i.files {
		if name == "-" {
			files[n] = i.hashed("standard input", opened(io.NopCloser(p.Stdin)))
			continue
		}
		files[n] = i.hashed(name, func() (io.ReadCloser, error) { return os.Open(name) })
	}
	return files
}

func opened(r io.ReadCloser) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return r, nil }
}

func (i *importing) hashed(name string, open func() (io.ReadCloser, error)) importer.File {
	h := sha256.New()
	i.hashes = append(i.hashes, h)
	return importer.File{Name: name, Open: func() (io.ReadCloser, error) {
		content, err := open()
		if err != nil {
			return nil, err
		}
		return &hashing{io.TeeReader(content, h), content}, nil
	}}
}

// maxRest is how much of a file may follow what its reader needed of it. More is not hashed: after an error it may be endless.
const maxRest = 1 << 20

// hashing hashes a file to its end, also when its reader needs no more of it.
type hashing struct {
	io.Reader
	content io.Closer
}

func (h *hashing) Close() error {
	_, err := io.CopyN(io.Discard, h.Reader, maxRest)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if failed := h.content.Close(); err == nil {
		err = failed
	}
	return err
}

// hash is that of all files, in whatever order they were given.
func (i *importing) hash() string {
	sums := make([][]byte, len(i.hashes))
	for n, h := range i.hashes {
		sums[n] = h.Sum(nil)
	}
	return importer.HashOf(sums)
}
