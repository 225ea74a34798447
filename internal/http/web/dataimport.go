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
	// maxSent is how much is read of an upload, most of it for nothing: a browser that is cut off does not show why.
	maxSent = 4 * jobs.MaxUpload
	// maxParts bounds the parts of an upload, and maxField each of them that is no file, in bytes.
	maxParts, maxField = 100, 256
	maxFileName        = 100
)

// importForm is what is chosen for an import, as it was sent.
type importForm struct {
	From, SourceGuild, Mode, MinLevel string
	Settings                          bool
	Guilds                            []string          // of a backup, to choose from
	Errors                            map[string]string // by field
}

// uploadMembers keeps the files of an import, and starts to compare them with the members.
func (s *Site) uploadMembers(c *gin.Context) error {
	g, err := s.dataGuild(c)
	if err != nil {
		return err
	}
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
	page := &dataPage{Guild: g, Errors: map[string]string{}}
	err = edge.Receive(c, edge.SlowTime, func() error {
		err := page.Import.receive(parts, arrival)
		if err != nil {
			_, _ = io.Copy(io.Discard, c.Request.Body)
		}
		return err
	})
	if errors.Is(err, shares.ErrFull) {
		return crowded(err)
	}
	choice := page.Import.choice(page.Errors)
	if err == nil && len(page.Errors) == 0 {
		err = arrival.Preview(c.Request.Context(), choice)
	}
	arrival.Close() // a page that shows what is wrong shows no upload
	return s.afterUpload(c, page, err)
}

// afterUpload leads to the preview, or shows what is wrong beside the form.
func (s *Site) afterUpload(c *gin.Context, page *dataPage, err error) error {
	if f := fault.From(err); f != nil {
		if f.Code != fault.TooLarge && f.Code != fault.Invalid {
			return err
		}
		page.Errors["file"] = f.Message
	}
	if len(page.Errors) > 0 {
		return s.showUpload(c, page)
	}
	s.log.InfoContext(c.Request.Context(), "a manager uploaded an import on the pages", "guild", page.Guild.ID)
	return s.toJob(c, page.Guild, nil)
}

func (s *Site) showUpload(c *gin.Context, page *dataPage) error {
	page.Job = nil
	return s.showData(c, http.StatusUnprocessableEntity, page)
}

// receive reads the form in whatever order it comes.
func (f *importForm) receive(parts *multipart.Reader, arrival *jobs.Arrival) error {
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
			if part.FileName() == "" { // nothing was chosen
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
		f.set(part.FormName(), string(text))
	}
}

// brokenUpload says what a reader of the form could not do: its own faults stay as they are.
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

func (f *importForm) set(name, value string) {
	switch name {
	case "from":
		f.From = value
	case "sourceGuild":
		f.SourceGuild = strings.TrimSpace(value)
	case "mode":
		f.Mode = value
	case "minLevel":
		f.MinLevel = strings.TrimSpace(value)
	case "settings":
		f.Settings = value != ""
	}
}

// fileName is the name of a file without its folder, as it is shown.
func fileName(sent string) string {
	if i := strings.LastIndexAny(sent, `/\`); i >= 0 {
		sent = sent[i+1:]
	}
	if !utf8.ValidString(sent) {
		sent = strings.ToValidUTF8(sent, "?")
	}
	return displayname.Cut(sent, maxFileName)
}

// choice judges the form. What is wrong goes beside its fields.
func (f *importForm) choice(wrong map[string]string) importer.Choice {
	f.Errors = wrong
	c := importer.Choice{Mode: leaderboard.PutMode(f.Mode), SourceGuild: id.Guild(f.SourceGuild), Settings: f.Settings}
	var err error
	if c.From, err = importer.ParseFrom(f.From); err != nil {
		wrong["from"] = "Choose one of the list."
	}
	if f.SourceGuild != "" && !id.Valid(f.SourceGuild) {
		wrong["sourceGuild"] = "An ID has 17 to 19 digits."
	}
	if !slices.Contains(leaderboard.PutModes, c.Mode) {
		wrong["mode"] = "Choose one of these."
	}
	if f.MinLevel != "" {
		n, err := strconv.Atoi(properties.PlainNumber(f.MinLevel))
		if err != nil || n < 0 || n > int(level.Max) {
			wrong["minLevel"] = "Must be a whole number from 0 to " + count(int(level.Max)) + "."
		}
		c.MinLevel = level.Level(n)
	}
	return c
}

// chosen is the form of a choice that was made. After an error about the guild of a backup it has the guilds to choose from.
func chosen(job *jobs.Job) importForm {
	c := job.Import.Choice
	f := importForm{From: string(c.From), SourceGuild: string(c.SourceGuild), Mode: string(c.Mode), Settings: c.Settings}
	if c.MinLevel > 0 {
		f.MinLevel = strconv.Itoa(int(c.MinLevel))
	}
	var wrong *importer.FileError
	if errors.As(job.Err, &wrong) {
		f.Guilds = wrong.Guilds
	}
	return f
}

// confirmImport applies an import. With other choices than those that the preview shows, it shows what these would do instead.
func (s *Site) confirmImport(c *gin.Context, page *dataPage, sent url.Values) error {
	ctx, g, jobID := c.Request.Context(), page.Guild.ID, sent.Get("job")
	confirm := sent.Get("do") == "confirm"
	if !confirm || sent.Has("from") {
		for name := range sent {
			page.Import.set(name, sent.Get(name))
		}
		page.Errors = map[string]string{}
		choice := page.Import.choice(page.Errors)
		if len(page.Errors) > 0 {
			return s.showData(c, http.StatusUnprocessableEntity, page)
		}
		job, _ := s.deps.Jobs.Of(g)
		if !confirm || job.ID == jobID && job.Import != nil && job.Import.Choice != choice {
			return s.toJob(c, page.Guild, s.deps.Jobs.Choose(ctx, g, jobID, choice))
		}
	}
	return s.toJob(c, page.Guild, s.deps.Jobs.Confirm(ctx, g, jobID, sent.Get("again") != ""))
}

// exportMembers streams all members of a guild as a file.
func (s *Site) exportMembers(c *gin.Context) error {
	g, err := s.dataGuild(c)
	if err != nil {
		return err
	}
	format := importer.Format(c.Query("format"))
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

// maxExports is how many exports are sent at the same time, one of each user.
const maxExports = 4

// menuItem is one of a list to choose from.
type menuItem struct{ Value, Label string }

// Sources are where files may come from.
func (importForm) Sources() []menuItem {
	return []menuItem{
		{"auto", "Detect (all but Arcane)"}, {"lurkr", "Lurkr or Levelboard"}, {"mee6", "MEE6"}, {"amari", "Amari"}, {"polaris", "Polaris"},
		{"levelup", "LevelUp (Red)"}, {"arcane", "Arcane"}, {"tatsu", "Tatsu"}, {"csv", "Table (CSV)"},
	}
}

// Modes are what may become of members who have XP.
func (importForm) Modes() (items []menuItem) {
	labels := map[leaderboard.PutMode]string{
		leaderboard.PutHigher: "Keep the higher XP", leaderboard.PutSet: "Replace their XP", leaderboard.PutAdd: "Add to their XP",
		leaderboard.PutMissing: "Leave them unchanged",
	}
	for _, mode := range leaderboard.PutModes {
		items = append(items, menuItem{string(mode), labels[mode]})
	}
	return items
}
