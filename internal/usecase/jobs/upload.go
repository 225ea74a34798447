package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/importer"
)

const (
	// MaxUpload is the maximum total size of an import's files, in bytes.
	MaxUpload = 16 << 20
	// MaxFiles is the maximum number of files.
	MaxFiles = 20
)

// upload is the files of an import.
type upload struct {
	size  int64
	files []uploaded
}

type uploaded struct {
	name    string
	content *os.File
	remove  func()
}

// remove removes the files. It does nothing for nil.
func (u *upload) remove() {
	if u == nil {
		return
	}
	for _, f := range u.files {
		f.remove()
	}
	u.files = nil
}

// Arrival is an import whose files are arriving. It is for one goroutine.
type Arrival struct {
	runner *Runner
	job    *job
}

// Receive makes an import the guild's job. End it with Preview or Close.
func (r *Runner) Receive(ctx context.Context, g id.Guild) (*Arrival, error) {
	j := &job{guild: g, upload: &upload{}, Job: Job{Kind: Import, State: Receiving, Import: &ImportJob{}}}
	if err := r.add(ctx, j); err != nil {
		return nil, err
	}
	return &Arrival{r, j}, nil
}

// Add stores a file. It returns a TooLarge fault if there are too many files or bytes, without reading the rest of content.
func (a *Arrival) Add(name string, content io.Reader) error {
	u := a.job.upload
	if len(u.files) == MaxFiles {
		return fault.New(fault.TooLarge, "These are too many files. Upload at most %d at once.", MaxFiles)
	}
	file, remove, err := importer.Temporary(a.runner.o.Dir)
	if err != nil {
		return fault.Down("keep an upload", err)
	}
	size, err := io.Copy(file, io.LimitReader(content, MaxUpload-u.size+1))
	u.size += size
	u.files = append(u.files, uploaded{name, file, remove})
	if err != nil {
		return fmt.Errorf("keep an upload: %w", err)
	}
	if u.size > MaxUpload {
		return fault.New(fault.TooLarge, "The files have more than %d MiB together. The operator can import larger ones with the command levelboard import.", MaxUpload>>20)
	}
	return nil
}

// Close discards the import, unless Preview was called.
func (a *Arrival) Close() {
	r := a.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.job.State == Receiving && r.jobs[a.job.guild] == a.job {
		a.job.upload.remove()
		delete(r.jobs, a.job.guild)
	}
}

// errNoFile says that no file was uploaded.
var errNoFile = fault.New(fault.Invalid, "Choose a file first.")

// Preview compares the files with the guild's members in the background. It returns an Invalid fault if there are no files.
func (a *Arrival) Preview(ctx context.Context, c importer.Choice) error {
	j := a.job
	if len(j.upload.files) == 0 {
		return errNoFile
	}
	a.runner.change(func() {
		j.Import.Choice = c
		for _, f := range j.upload.files {
			j.Import.Files = append(j.Import.Files, f.name)
		}
	})
	a.runner.work(ctx, j, stages{Reading, Ready}, func(ctx context.Context) error { return a.runner.preview(ctx, j) })
	return nil
}

// open returns the files for an import.
func (u *upload) open() []importer.File {
	files := make([]importer.File, len(u.files))
	for i, f := range u.files {
		files[i] = importer.File{Name: f.name, Open: func() (io.ReadCloser, error) {
			_, err := f.content.Seek(0, io.SeekStart)
			return io.NopCloser(f.content), err
		}}
	}
	return files
}

// Problem says what is wrong with the files of an import that Failed. It returns "" if the files are not the cause.
func Problem(err error) string {
	var wrong *importer.FileError
	if !errors.As(err, &wrong) {
		return ""
	}
	return wrong.Error()
}
