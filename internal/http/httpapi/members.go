package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

// memberPath names the member that a path is about.
type memberPath struct {
	guild id.Guild
	user  id.User
}

func readMemberPath(c *gin.Context) (p memberPath, err error) {
	if _, err := query(c); err != nil {
		return p, err
	}
	if p.guild, err = id.Parse[id.Guild](c.Param("entry")); err != nil {
		return p, fault.New(fault.Invalid, "guildId in the path %s.", err)
	}
	p.user, err = pathID[id.User](c, "userId")
	return p, err
}

// readChange reads the path, the Idempotency-Key and the body of a request that changes a member.
func readChange(c *gin.Context) (path memberPath, once leaderboard.Once, sent []byte, err error) {
	if path, err = readMemberPath(c); err != nil {
		return path, once, nil, err
	}
	key, err := idempotencyKey(c.Request.Header)
	if err != nil {
		return path, once, nil, err
	}
	sent, err = body(c, maxBody)
	return path, onceOf(c, key, sent), sent, err
}

// permitted finds the guild and refuses a key that may not do this in it.
func (a *api) permitted(c *gin.Context, gid id.Guild) (*guild.Guild, error) {
	g, err := a.deps.Guilds.ByID(c.Request.Context(), gid)
	if err != nil {
		return nil, err
	}
	return g, permit(c, g.ID)
}

func (a *api) getMember(c *gin.Context) error {
	path, err := readMemberPath(c)
	if err != nil {
		return err
	}
	g, err := a.permitted(c, path.guild)
	if err != nil {
		return err
	}
	member, err := a.deps.Board.Member(c.Request.Context(), g, path.user)
	if err != nil {
		return err
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, memberBody(g, member))
	return nil
}

// createRequest is the body of POST.
type createRequest struct {
	XP   int64       `json:"xp" bounds:"0..2147483647"`
	User userRequest `json:"user"`
}

type userRequest struct {
	Avatar        *string                      `json:"avatar"`
	Discriminator string                       `json:"discriminator" bytes:"0..256"`
	Username      string                       `json:"username" bytes:"0..256"`
	GlobalName    strictjson.Optional[*string] `json:"globalName" bytes:"0..256"`
}

// user checks what strictjson does not; place is where the user is, and begins the names in errors.
func (u userRequest) user(place string) (leaderboard.User, error) {
	if u.Avatar != nil && !guild.ValidHash(*u.Avatar) {
		return leaderboard.User{}, fault.New(fault.Invalid, "%s.avatar %s", place, avatarSentence)
	}
	return leaderboard.User{
		Avatar: u.Avatar, Discriminator: u.Discriminator, Username: u.Username, GlobalName: u.GlobalName.Or(nil),
	}, nil
}

const avatarSentence = "must be an avatar hash (" + guild.HashRule + ") or null"

func (a *api) createMember(c *gin.Context) error {
	path, once, sent, err := readChange(c)
	if err != nil {
		return err
	}
	var request createRequest
	if err := strictjson.Decode(sent, &request); err != nil {
		return err
	}
	user, err := request.User.user("user")
	if err != nil {
		return err
	}
	g, err := a.permitted(c, path.guild)
	if err != nil {
		return err
	}
	out, err := a.deps.Board.Create(c.Request.Context(), g, path.user, leaderboard.Creation{XP: level.XP(request.XP), User: user, Once: once})
	return writeOutcome(c, g, out, err)
}

func writeOutcome(c *gin.Context, g *guild.Guild, out leaderboard.Outcome, err error) error {
	if err != nil {
		return err
	}
	markReplay(c, out.Replayed)
	writeJSON(c, http.StatusOK, summaryBody(g, out))
	return nil
}

// updateRequest is the body of PATCH. XP is a whole number or an object, so it is read in a second step.
type updateRequest struct {
	XP              jsontext.Value            `json:"xp"`
	TriggerCooldown strictjson.Optional[bool] `json:"triggerCooldown"`
}

type relativeXP struct {
	Increment strictjson.Optional[int64] `json:"increment" bounds:"1..2147483647"`
	Decrement strictjson.Optional[int64] `json:"decrement" bounds:"1..2147483647"`
}

// readUpdate reads the body of PATCH, and whether the member's cooldown starts.
func readUpdate(sent []byte) (change leaderboard.Change, cooldown bool, err error) {
	var request updateRequest
	if err := strictjson.Decode(sent, &request); err != nil {
		return change, false, err
	}
	change.Op, change.Amount, err = readXP(request.XP)
	return change, request.TriggerCooldown.Or(false), err
}

func readXP(sent jsontext.Value) (leaderboard.Op, level.XP, error) {
	switch sent.Kind() {
	case '0':
		amount, err := strictjson.Int("xp", sent, 0, int64(level.MaxXP))
		return leaderboard.Set, level.XP(amount), err
	case '{':
		var relative relativeXP
		if err := strictjson.DecodeAt("xp", sent, &relative); err != nil {
			return "", 0, err
		}
		increment, up := relative.Increment.Get()
		decrement, down := relative.Decrement.Get()
		switch {
		case up && !down:
			return leaderboard.Increment, level.XP(increment), nil
		case down && !up:
			return leaderboard.Decrement, level.XP(decrement), nil
		}
	}
	return "", 0, fault.New(fault.Invalid, "xp must be a whole number from 0 to %d, or an object with either increment or decrement", level.MaxXP)
}

func (a *api) updateMember(c *gin.Context) error {
	path, once, sent, err := readChange(c)
	if err != nil {
		return err
	}
	change, cooldown, err := readUpdate(sent)
	if err != nil {
		return err
	}
	g, err := a.permitted(c, path.guild)
	if err != nil {
		return err
	}
	change.Once = once
	if cooldown {
		change.Cooldown = g.Cooldown()
	}
	out, err := a.deps.Board.Change(c.Request.Context(), g, path.user, change)
	return writeOutcome(c, g, out, err)
}

func (a *api) deleteMember(c *gin.Context) error {
	path, err := readMemberPath(c)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(c.Request.Header)
	if err != nil {
		return err
	}
	g, err := a.permitted(c, path.guild)
	if err != nil {
		return err
	}
	replayed, err := a.deps.Board.Delete(c.Request.Context(), g, path.user, onceOf(c, key, nil))
	if err == nil {
		markReplay(c, replayed)
	}
	return noContent(c, err)
}

// roleRewardChanges tells which roles a member gains and loses at a level.
func (a *api) roleRewardChanges(c *gin.Context) error {
	gid, err := pathID[id.Guild](c, "guildId")
	if err != nil {
		return err
	}
	values, err := query(c)
	if err != nil {
		return err
	}
	at, err := queryInt(values, "level", 0, int64(level.Max))
	if err != nil {
		return err
	}
	if !id.Valid(values.Get("userId")) {
		return fault.New(fault.Invalid, "The query parameter userId is required and %s.", id.ErrSnowflake)
	}
	g, err := a.permitted(c, gid)
	if err != nil {
		return err
	}
	add, remove := g.RoleChanges(level.Level(at))
	setPrivate(c)
	writeJSON(c, http.StatusOK, struct {
		AddRoles    []id.Role `json:"addRoles"`
		RemoveRoles []id.Role `json:"removeRoles"`
	}{add, remove})
	return nil
}
