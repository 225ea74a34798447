package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// dataPath is the page where managers import, export, keep and restore the members of their guild.
const dataPath = "/guilds/:guildId/data"

// dataPage is the content of the page of a guild's data. While a job is at work it shows nothing else, and reloads itself.
type dataPage struct {
	Guild       *guild.Guild
	Job         *jobView // nil when there is none
	Elsewhere   string   // the job that the address names, which this server does not know
	Checkpoints []checkpoints.Checkpoint
	Deleted     bool // a checkpoint, just now
	Import      importForm
	Name        string            // of a checkpoint, as it was typed
	Reasons     map[string]string // as they were typed, by field
	Errors      map[string]string // by field
}

func (s *Site) dataRoutes(pages routes) {
	pages.get(dataPath, s.handle(s.data), unlisted("/guilds/"))
	pages.post(dataPath, s.handle(s.changeData), formHere)
	pages.post(dataPath+"/import", s.handle(s.uploadMembers), upTo(maxSent), slow)
	pages.only(dataPath+"/export", s.handle(s.exportMembers), slow)
	pages.get(auditPath, s.handle(s.auditLog), unlisted("/guilds/"))
}

func dataAddress(g id.Guild) string { return "/guilds/" + string(g) + "/data" }

func (s *Site) data(c *gin.Context) error {
	g, err := s.dataGuild(c)
	if err != nil {
		return err
	}
	page := &dataPage{Guild: g, Deleted: c.Query("done") == "deleted"}
	if job, _ := s.deps.Jobs.Of(g.ID); job.ID != c.Query("job") {
		page.Elsewhere = displayname.Cut(c.Query("job"), maxShown)
	}
	return s.showData(c, http.StatusOK, page)
}

// dataGuild is managedGuild where there is a page for data.
func (s *Site) dataGuild(c *gin.Context) (*guild.Guild, error) {
	if s.deps.Jobs == nil {
		return nil, noGuild()
	}
	g, err := s.managedGuild(c)
	if err == nil {
		pageOf(c).data = dataAddress(g.ID)
	}
	return g, err
}

func (s *Site) showData(c *gin.Context, status int, page *dataPage) error {
	if job, ok := s.deps.Jobs.Of(page.Guild.ID); ok && page.Elsewhere == "" {
		page.Job = &jobView{Job: job, Now: s.deps.Now(), Reason: reasonField("import-reason", page.Reasons, page.Errors), Form: page.Import}
		if job.HasFiles && page.Import.Mode == "" {
			page.Job.Form = chosen(&job)
		}
	}
	if page.Job == nil || !page.Job.State.Active() {
		var err error
		if page.Checkpoints, err = s.deps.Checkpoints.List(c.Request.Context(), page.Guild.ID); err != nil {
			return err
		}
	}
	page.Import.Mode, page.Import.From = cmp.Or(page.Import.Mode, string(leaderboard.PutHigher)), cmp.Or(page.Import.From, string(importer.Auto))
	return s.show(c, status, "data", "Data of "+page.Guild.Name, page)
}

// changeData is where every button of the page leads, except for uploads.
func (s *Site) changeData(c *gin.Context) error {
	g, err := s.dataGuild(c)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	do := sent.Get("do")
	s.log.InfoContext(c.Request.Context(), "a manager works on the members of a guild on the pages", "guild", g.ID,
		"task", displayname.Cut(do, maxShown), "checkpoint", displayname.Cut(sent.Get("checkpoint"), maxShown))
	field := reasonIDs[do] + sent.Get("checkpoint")
	reason, wrong := reasonOf(sent)
	reasons := map[string]string{field: reason}
	if wrong != "" {
		return s.showData(c, http.StatusUnprocessableEntity, &dataPage{Guild: g, Reasons: reasons, Errors: map[string]string{field: wrong}})
	}
	c.Request = c.Request.WithContext(audit.WithReason(c.Request.Context(), reason))
	switch do {
	case "checkpoint":
		return s.makeCheckpoint(c, g, sent)
	case "delete":
		err = s.deps.Checkpoints.Delete(c.Request.Context(), g.ID, sent.Get("checkpoint"))
		return toData(c, g, "?done=deleted#checkpoints", asDataProblem(err))
	case "restore":
		err = s.hasCheckpoint(c.Request.Context(), g, sent.Get("checkpoint"))
		if err == nil {
			err = s.deps.Jobs.Restore(c.Request.Context(), g.ID, sent.Get("checkpoint"))
		}
		return s.toJob(c, g, err)
	case "reset":
		return s.resetMembers(c, &dataPage{Guild: g, Reasons: reasons}, sent)
	case "confirm", "choose":
		return s.confirmImport(c, &dataPage{Guild: g, Reasons: reasons}, sent)
	case "dismiss":
		s.deps.Jobs.Dismiss(g.ID, sent.Get("job"))
	}
	return toData(c, g, "", nil)
}

// reasonIDs are the fields of the reasons for tasks; that of a checkpoint ends in its id.
var reasonIDs = map[string]string{"restore": "reason-", "reset": "reset-reason", "confirm": "import-reason"}

// toData leads back to the page, unless there was an error.
func toData(c *gin.Context, g *guild.Guild, rest string, err error) error {
	if err == nil {
		c.Redirect(http.StatusSeeOther, dataAddress(g.ID)+rest)
	}
	return err
}

// toJob leads back to the page, to the job that was just started. Only this server has it.
func (s *Site) toJob(c *gin.Context, g *guild.Guild, err error) error {
	job, _ := s.deps.Jobs.Of(g.ID)
	return toData(c, g, "?job="+job.ID, err)
}

func (s *Site) makeCheckpoint(c *gin.Context, g *guild.Guild, sent url.Values) error {
	name := strings.TrimSpace(sent.Get("name"))
	if n := utf8.RuneCountInString(name); n < 1 || n > checkpoints.MaxName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return s.showData(c, http.StatusUnprocessableEntity, &dataPage{Guild: g, Name: name, Errors: map[string]string{
			"name": "A name has 1 to 100 characters.",
		}})
	}
	return s.toJob(c, g, s.deps.Jobs.Checkpoint(c.Request.Context(), g.ID, name))
}

// hasCheckpoint finds out at once what a job would only fail with.
func (s *Site) hasCheckpoint(ctx context.Context, g *guild.Guild, checkpoint string) error {
	all, err := s.deps.Checkpoints.List(ctx, g.ID)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.ID == checkpoint {
			return nil
		}
	}
	return asDataProblem(checkpoints.ErrUnknown)
}

// resetMembers removes all members once somebody has typed the guild's name, as they see it.
func (s *Site) resetMembers(c *gin.Context, page *dataPage, sent url.Values) error {
	g := page.Guild
	if typed := properties.OneLine(sent.Get("guild")); typed == "" || typed != properties.OneLine(g.Name) && typed != properties.OneLine(displayname.Clean(g.Name)) {
		page.Errors = map[string]string{"guild": "Type the name exactly as shown above."}
		return s.showData(c, http.StatusUnprocessableEntity, page)
	}
	return s.toJob(c, g, s.deps.Jobs.Reset(c.Request.Context(), g.ID))
}

// asDataProblem words an error for people who see no commands.
func asDataProblem(err error) error {
	if words := dataProblem(err); words != "" {
		return fault.Wrap(err, fault.Conflict, "%s", words)
	}
	return err
}
