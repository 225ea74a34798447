package web

import (
	"context"
	"net/http"
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
)

// dataPath is the page where managers import, export, save and restore the members of their guild.
const dataPath = "/guilds/:guildId/data"

// dataPage is the content of the page of a guild's data. While a job runs, the page shows only the job, and reloads itself.
type dataPage struct {
	Guild       *guild.Guild
	Job         *jobView // nil if there is none
	Elsewhere   string   // the job in the address, if this server does not know it
	Checkpoints []checkpoints.Checkpoint
	Deleted     bool // a checkpoint was just deleted
	Form        *form
}

func (s *Site) dataRoutes(pages routes) {
	pages.get(dataPath, s.managing(s.data), unlisted("/guilds/"))
	pages.post(dataPath, s.managing(s.changeData), formHere)
	pages.post(dataPath+"/import", s.managing(s.uploadMembers), upTo(maxSent), slow)
	pages.only(dataPath+"/export", s.managing(s.exportMembers), slow)
	pages.get(auditPath, s.managing(s.auditLog), unlisted("/guilds/"))
}

func dataAddress(g id.Guild) string { return "/guilds/" + string(g) + "/data" }

func (s *Site) data(c *gin.Context, g *guild.Guild, sent *form) error {
	page := &dataPage{Guild: g, Deleted: sent.Value("done") == "deleted"}
	if job, _ := s.deps.Jobs.Of(g.ID); job.ID != sent.Value("job") {
		page.Elsewhere = displayname.Cut(sent.Value("job"), maxShown)
	}
	return s.showData(c, page)
}

func (s *Site) showData(c *gin.Context, page *dataPage) error {
	if job, ok := s.deps.Jobs.Of(page.Guild.ID); ok && page.Elsewhere == "" {
		page.Job = &jobView{Job: job, Guild: page.Guild.ID, Now: s.deps.Now(), Form: page.Form}
		if job.HasFiles && page.Form.Value("mode") == "" {
			page.Job.Form = chosen(&job)
		}
	}
	if page.Job == nil || !page.Job.State.Active() {
		var err error
		if page.Checkpoints, err = s.deps.Checkpoints.List(c.Request.Context(), page.Guild.ID); err != nil {
			return err
		}
	}
	return s.show(c, page.Form.status(), "data", "Data of "+page.Guild.Name, page)
}

// changeData handles every button of the page, except uploads.
func (s *Site) changeData(c *gin.Context, g *guild.Guild, sent *form) error {
	pageOf(c).data = dataAddress(g.ID)
	do, checkpoint, page := sent.Value("do"), sent.Value("checkpoint"), &dataPage{Guild: g, Form: sent}
	s.log.InfoContext(c.Request.Context(), "a manager changes the data of a guild on its page", "guild", g.ID,
		"task", displayname.Cut(do, maxShown), "checkpoint", displayname.Cut(checkpoint, maxShown))
	ctx := audit.WithReason(c.Request.Context(), sent.reason(reasonIDs[do]+checkpoint))
	if sent.bad() {
		return s.showData(c, page)
	}
	c.Request = c.Request.WithContext(ctx)
	switch do {
	case "checkpoint":
		return s.makeCheckpoint(c, page)
	case "delete":
		err := s.deps.Checkpoints.Delete(ctx, g.ID, checkpoint)
		return toData(c, g, "?done=deleted#checkpoints", asDataProblem(err))
	case "restore":
		err := s.hasCheckpoint(ctx, g, checkpoint)
		if err == nil {
			err = s.deps.Jobs.Restore(ctx, g.ID, checkpoint)
		}
		return s.toJob(c, g, err)
	case "reset":
		return s.resetMembers(c, page)
	case "confirm", "choose":
		return s.confirmImport(c, page)
	case "dismiss":
		s.deps.Jobs.Dismiss(g.ID, sent.Value("job"))
	}
	return toData(c, g, "", nil)
}

// reasonIDs are the fields for the reasons of tasks. A checkpoint's field ends in its id.
var reasonIDs = map[string]string{"restore": "reason-", "reset": "reset-reason", "confirm": "import-reason"}

// toData redirects to the page, unless err is set.
func toData(c *gin.Context, g *guild.Guild, rest string, err error) error {
	if err == nil {
		c.Redirect(http.StatusSeeOther, dataAddress(g.ID)+rest)
	}
	return err
}

// toJob redirects to the page, with the job that was just started. Only this server has it.
func (s *Site) toJob(c *gin.Context, g *guild.Guild, err error) error {
	job, _ := s.deps.Jobs.Of(g.ID)
	return toData(c, g, "?job="+job.ID, err)
}

func (s *Site) makeCheckpoint(c *gin.Context, page *dataPage) error {
	name := page.Form.Value("name")
	if n := utf8.RuneCountInString(name); n < 1 || n > checkpoints.MaxName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		page.Form.refuse("name", "A name has 1 to 100 characters.")
		return s.showData(c, page)
	}
	return s.toJob(c, page.Guild, s.deps.Jobs.Checkpoint(c.Request.Context(), page.Guild.ID, name))
}

// hasCheckpoint checks that a checkpoint exists, so that a job need not start in vain.
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

// resetMembers removes all members after the manager typed the guild's name as it is shown.
func (s *Site) resetMembers(c *gin.Context, page *dataPage) error {
	g := page.Guild
	if typed := properties.OneLine(page.Form.Value("guild")); typed == "" || typed != properties.OneLine(g.Name) && typed != properties.OneLine(displayname.Clean(g.Name)) {
		page.Form.refuse("guild", "Type the name exactly as it is shown.")
		return s.showData(c, page)
	}
	return s.toJob(c, g, s.deps.Jobs.Reset(c.Request.Context(), g.ID))
}

// asDataProblem rewords an error for people who see no commands.
func asDataProblem(err error) error {
	if words := dataProblem(err); words != "" {
		return fault.Wrap(err, fault.Conflict, "%s", words)
	}
	return err
}
