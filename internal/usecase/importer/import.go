package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Choice says how to read and apply files.
type Choice struct {
	From        From
	SourceGuild id.Guild // see Options
	Mode        leaderboard.PutMode
	MinLevel    level.Level // by the guild's curve, after the settings if they are taken
	Settings    bool        // take the curve, rewards and rates in the files
}

// Import is the content of the files of an import.
type Import struct {
	Choice
	Members *Members
	Report  Report
	Curve   level.Curve // the guild's, with the settings if they are taken

	settings []byte // the properties of the guild's document to set, as JSON; nil for none
	files    string // the SHA-256 of the files, in any order
}

// Read reads the files for a guild with its current settings. The spool must be empty; the caller removes it.
func Read(ctx context.Context, files []File, now guild.Settings, c Choice, spool io.ReadWriteSeeker) (*Import, error) {
	files = slices.Clone(files)
	hashes := make([]hash.Hash, len(files))
	for n, f := range files {
		hashes[n] = sha256.New()
		files[n].Open = func() (io.ReadCloser, error) {
			content, err := f.Open()
			return &hashing{content, hashes[n], ctx.Err}, err
		}
	}
	reader := Open(files, Options{From: c.From, Guild: now.ID, SourceGuild: c.SourceGuild, Curve: now.Curve})
	members, err := Gather(ctx, reader, spool)
	if err != nil {
		return nil, err
	}
	i := &Import{Choice: c, Members: members, Report: reader.Report(), Curve: now.Curve, files: hashOf(hashes)}
	if c.Settings && !i.Report.Proposal.Empty() {
		i.settings, i.Curve, err = i.Report.Proposal.in(now)
	}
	return i, err
}

// hashing hashes a file while it is read, and ends when ctx ends.
type hashing struct {
	io.ReadCloser
	hash    hash.Hash
	stopped func() error
}

// Read implements io.Reader.
func (h *hashing) Read(p []byte) (int, error) {
	if err := h.stopped(); err != nil {
		return 0, err
	}
	n, err := h.ReadCloser.Read(p)
	h.hash.Write(p[:n])
	return n, err
}

func hashOf(files []hash.Hash) string {
	sums := make([]string, len(files))
	for n, h := range files {
		sums[n] = hex.EncodeToString(h.Sum(nil))
	}
	slices.Sort(sums)
	all := sha256.Sum256([]byte(strings.Join(sums, "\n")))
	return hex.EncodeToString(all[:])
}

// Compare counts what the import would change in a guild with these members, which must be different. It changes nothing.
func (i *Import) Compare(ctx context.Context, members iter.Seq2[Row, error]) (Plan, error) {
	there, err := NewIndex(ctx, members)
	if err != nil {
		return Plan{}, err
	}
	return i.Members.Plan(ctx, PlanOptions{Mode: i.Mode, Curve: i.Curve, MinLevel: i.MinLevel, There: there})
}

// Nothing returns an Invalid fault if there is nothing to import.
func (i *Import) Nothing() error {
	if i.settings != nil {
		return nil
	}
	for _, err := range i.Members.rows(i.Curve, i.MinLevel) {
		return err
	}
	switch {
	case i.Members.count() > 0:
		return fault.New(fault.Invalid, "There is nothing to import: all members of the files are below level %d.", i.MinLevel)
	case len(i.Report.Skipped) > 0:
		return fault.New(fault.Invalid, "There is nothing to import: no row of the files can be taken. The first is skipped because %s.", i.Report.Skipped[0].Reason)
	}
	return fault.New(fault.Invalid, "There is nothing to import: the files have no members.")
}

// RowsOf converts exported members for Compare.
func RowsOf(members iter.Seq2[Exported, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for m, err := range members {
			row := Row{UserID: m.UserID, XP: m.XP, MessageCount: &m.MessageCount, User: &m.User, Present: m.Present}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
