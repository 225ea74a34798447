package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/properties"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/jobs"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// maxSent is how many bytes of an upload are read. More than jobs.MaxUpload
	// is thrown away: a browser that is cut off does not show the error.
	maxSent = 4 * jobs.MaxUpload
	// maxParts bounds the parts of an upload, and maxField the size of each that is not a file, in bytes.
	maxParts, maxField = 100, 256
	maxFileName        = 100
)

// uploadMembers stores the files of an import, and starts to compare them with the members.
func (s *Site) uploadMembers(c *gin.Context, g *guild.Guild, sent *form) error {
	pageOf(c).data = dataAddress(g.ID)
	comeBackTo(c, dataAddress(g.ID))
	parts, err := c.Request.MultipartReader()
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "The form arrived incomplete. Go back and submit it again.")
	}
	arrival, err := s.deps.Jobs.Receive(c.Request.Context(), g.ID)
	if err != nil {
		return err
	}
	defer arrival.Close()
	err = edge.Receive(c, edge.SlowTime, func() error {
		err := sent.receive(parts, arrival)
		if err != nil {
			_, _ = io.Copy(io.Discard, c.Request.Body)
		}
		return err
	})
	if errors.Is(err, shares.ErrFull) {
		return crowded(err)
	}
	choice := importChoice(sent)
	if err == nil && !sent.bad() {
		err = arrival.Preview(c.Request.Context(), choice)
	}
	arrival.Close() // the error page shows no upload
	if fault.Is(err, fault.TooLarge) || fault.Is(err, fault.Invalid) {
		sent.refuse("file", fault.From(err).Message)
	} else if err != nil {
		return err
	}
	if sent.bad() {
		return s.showData(c, &dataPage{Guild: g, Form: sent})
	}
	s.log.InfoContext(c.Request.Context(), "a manager uploaded an import on the pages", "guild", g.ID)
	return s.toJob(c, g, nil)
}

// receive reads the form of an import. Its parts may come in any order.
func (f *form) receive(parts *multipart.Reader, arrival *jobs.Arrival) error {
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return brokenUpload(err)
		case n == maxParts:
			return fault.New(fault.TooLarge, "The form has too many parts.")
		}
		if part.FormName() == "file" {
			if part.FileName() == "" { // no file was chosen
				continue
			}
			if err := arrival.Add(fileName(part.FileName()), part); err != nil {
				return brokenUpload(err)
			}
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return brokenUpload(err)
		}
		f.sent.Set(part.FormName(), string(text))
	}
}

// brokenUpload words the error of reading the form. It keeps faults as they are.
func brokenUpload(err error) error {
	var own *fault.Error
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &large):
		return fault.Wrap(err, fault.TooLarge, "The files have more than %d MiB together. The operator can import larger ones with the command levelboard import.", jobs.MaxUpload>>20)
	}
	return fault.Wrap(err, fault.Invalid, "The upload arrived incomplete. Try again.")
}

// fileName returns the name of a file without its folder, as it is shown.
func fileName(sent string) string {
	if i := strings.LastIndexAny(sent, `/\`); i >= 0 {
		sent = sent[i+1:]
	}
	if !utf8.ValidString(sent) {
		sent = strings.ToValidUTF8(sent, "?")
	}
	return displayname.Cut(sent, maxFileName)
}

// importChoice checks the choices for an import.
func importChoice(f *form) importer.Choice {
	c := importer.Choice{Mode: leaderboard.PutMode(f.Value("mode")), SourceGuild: id.Guild(f.Value("sourceGuild")), Settings: f.Value("settings") != ""}
	var err error
	if c.From, err = importer.ParseFrom(f.Value("from")); err != nil {
		f.refuse("from", "Choose one of the list.")
	}
	if c.SourceGuild != "" && !id.Valid(string(c.SourceGuild)) {
		f.refuse("sourceGuild", "An ID has 17 to 19 digits.")
	}
	if !slices.Contains(leaderboard.PutModes, c.Mode) {
		f.refuse("mode", "Choose one of these.")
	}
	if typed := f.Value("minLevel"); typed != "" {
		n, err := strconv.Atoi(properties.PlainNumber(typed))
		if err != nil || n < 0 || n > int(level.Max) {
			f.refuse("minLevel", "Must be a whole number from 0 to "+count(int(level.Max))+".")
		}
		c.MinLevel = level.Level(n)
	}
	return c
}

// chosen returns a form with the choices that were made.
func chosen(job *jobs.Job) *form {
	c := job.Import.Choice
	sent := url.Values{"from": {string(c.From)}, "sourceGuild": {string(c.SourceGuild)}, "mode": {string(c.Mode)}}
	if c.Settings {
		sent.Set("settings", "on")
	}
	if c.MinLevel > 0 {
		sent.Set("minLevel", strconv.Itoa(int(c.MinLevel)))
	}
	return &form{sent: sent}
}

// confirmImport applies an import. If its choices are not those of the preview, it shows a preview of the new ones instead.
func (s *Site) confirmImport(c *gin.Context, page *dataPage) error {
	ctx, g, sent := c.Request.Context(), page.Guild.ID, page.Form
	jobID, confirm := sent.Value("job"), sent.Value("do") == "confirm"
	if !confirm || sent.sent.Has("from") {
		choice := importChoice(sent)
		if sent.bad() {
			return s.showData(c, page)
		}
		job, _ := s.deps.Jobs.Of(g)
		if !confirm || job.ID == jobID && job.Import != nil && job.Import.Choice != choice {
			return s.toJob(c, page.Guild, s.deps.Jobs.Choose(ctx, g, jobID, choice))
		}
	}
	return s.toJob(c, page.Guild, s.deps.Jobs.Confirm(ctx, g, jobID, sent.Value("again") != ""))
}

// exportMembers streams all members of a guild as a file.
func (s *Site) exportMembers(c *gin.Context, g *guild.Guild, sent *form) error {
	pageOf(c).data = dataAddress(g.ID)
	format := importer.Format(sent.Value("format"))
	if !format.Valid() {
		return fault.New(fault.NotFound, "An export is JSON or CSV. Use the buttons of the page.")
	}
	share, err := s.exports.Take(edge.Holder(c))
	if errors.Is(err, shares.ErrShare) {
		return fault.Wrap(err, fault.Conflict, "An export of yours has not finished. Wait for it, or stop it, then try again.")
	}
	if err != nil {
		return crowded(err)
	}
	defer share.Release()
	g, members, err := s.deps.Checkpoints.Export(c.Request.Context(), g.ID)
	if err != nil {
		return err
	}
	return edge.Export(c, s.log, format, g, members)
}

// maxExports is how many exports may run at the same time; each user may have one.
const maxExports = 4
