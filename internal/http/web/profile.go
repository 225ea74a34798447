package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/signin"
)

const (
	// keysShown is how many keys a page shows. There is a second page only if the operator made a user more keys than users may make.
	keysShown = keys.MaxKeys
	// recentRecords is how many records of the history the profile shows, and recordsShown how many a page of the history.
	recentRecords, recordsShown = 5, 50
	// soonTime is how long before its expiry a key is marked.
	soonTime = 3 * 24 * time.Hour
)

const whyKeys = "Sign in to see your boards, your data and the API keys of your bots."

func (s *Site) profileRoutes(pages routes) {
	pages.get("/profile", s.ofUser(s.profile), unlisted("/profile"))
	pages.post("/profile", s.ofUser(s.createKey), formHere)
	pages.post("/profile/erase", s.ofUser(s.eraseUser))
	pages.post("/profile/hidden", s.ofUser(s.hideMe))
	pages.get("/profile/data.json", s.ofUser(s.myDataFile))
	pages.get("/profile/erased", s.handle(s.erased))
	pages.get("/profile/history", s.ofUser(s.keyHistory))
	pages.get("/profile/keys/:key", s.ofKey(s.key))
	pages.post("/profile/keys/:key", s.ofKey(s.renameKey), formHere)
	pages.post("/profile/keys/:key/rotate", s.ofKey(s.rotateKey))
	pages.post("/profile/keys/:key/grant", s.ofKey(s.grantGuild))
	pages.post("/profile/keys/:key/ungrant", s.ofKey(s.ungrantGuild))
	pages.get("/profile/keys/:key/delete", s.ofKey(s.askToDeleteKey))
	pages.post("/profile/keys/:key/delete", s.ofKey(s.deleteKey), formHere)
}

// ofUser calls a handler with the signed-in user's session and the sent form.
func (s *Site) ofUser(h func(c *gin.Context, session *signin.Session, sent *form) error) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		session, err := signedIn(c, whyKeys)
		if err != nil {
			return err
		}
		sent, err := readForm(c)
		if err != nil {
			return err
		}
		return h(c, session, sent)
	})
}

// profilePage is the content of /profile.
type profilePage struct {
	Done          string // what was just done, or empty
	Keys          []keyView
	Total, Most   int
	Before, After int64 // numbers of the previous and the next page, or 0
	Form          *form
	Guilds        []properties.Option // guilds that can be granted
	Managed       int                 // how many guilds the user manages according to the provider, known here or not
	Unconfirmed   bool                // the provider did not answer
	History       []recordView
	Data          erasure.Stored
	Boards        []myBoard
	Hiding        []hidingSwitch // one for each guild in which the user has an entry or a flag
	Manages       bool           // the user manages a guild, so that keys are useful
	NewID         string         // id for the key that the form makes
}

// Full reports whether the user has the maximum number of keys.
func (p profilePage) Full() bool { return p.Total >= p.Most }

// done says what a change did, by the word in the address that it redirected to.
var done = map[string]string{
	"hidden":    "You are hidden from the leaderboard.",
	"shown":     "You are on the leaderboard again.",
	"renamed":   "Key renamed.",
	"granted":   "Access granted.",
	"ungranted": "Access revoked.",
	"deleted":   "Key deleted.",
}

func (s *Site) profile(c *gin.Context, session *signin.Session, _ *form) error {
	return s.showProfile(c, session, nil)
}

// showProfile shows the profile. f is a form with errors, or nil.
func (s *Site) showProfile(c *gin.Context, session *signin.Session, f *form) error {
	ctx := c.Request.Context()
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	owned, err := s.deps.Keys.Owned(ctx, session.User.ID)
	if err != nil {
		return err
	}
	content := profilePage{
		Done: done[c.Query("done")], Total: len(owned), Most: keys.MaxKeys, Form: f, NewID: apikey.NewID(), Before: number - 1,
		Managed: len(session.Managed()), Unconfirmed: session.Unconfirmed,
	}
	owned = owned[min((number-1)*keysShown, int64(len(owned))):]
	if len(owned) > keysShown {
		owned, content.After = owned[:keysShown], number+1
	}
	for _, k := range owned {
		view := s.viewKey(k)
		if view.Guilds, err = s.granted(ctx, k.Grants[:min(namedAtOnce, len(k.Grants))]); err != nil {
			return err
		}
		view.More = len(k.Grants) - len(view.Guilds)
		content.Keys = append(content.Keys, view)
	}
	guilds, err := s.grantable(ctx, session)
	if err != nil {
		return err
	}
	for _, g := range guilds {
		content.Guilds = append(content.Guilds, properties.Option{Value: string(g.ID), Label: g.Name})
	}
	if content.History, _, err = s.records(ctx, session.User.ID, 0, recentRecords); err != nil {
		return err
	}
	if content.Data, err = s.deps.Users.Known(ctx, session.User.ID); err != nil {
		return err
	}
	if content.Boards, err = s.boardsOf(ctx, session, content.Data.Guilds); err != nil {
		return err
	}
	if content.Hiding, err = s.hidingSwitches(ctx, content.Data); err != nil {
		return err
	}
	content.Manages = content.Managed > 0 || len(content.Guilds) > 0 || content.Total > 0 || content.Unconfirmed
	return s.show(c, f.status(), "profile", "Your profile", content)
}

const badName = "Enter a visible name of one line and at most 100 bytes, without characters that change the direction of text."

// newKey reads and checks the form for a key.
func newKey(f *form, now time.Time) (n apikey.NewKey) {
	var err error
	if id := f.Value("id"); apikey.ValidID(id) {
		n.ID = id
	}
	if n.Name = f.Value("name"); apikey.CheckName(n.Name) != nil {
		f.refuse("name", badName)
	}
	if n.Permission, err = apikey.ParsePermission(f.Value("permission")); err != nil {
		f.refuse("permission", "Choose a permission.")
	}
	if n.ExpiresAt, err = keys.ParseExpiry(f.Value("expiry"), now); err != nil {
		f.refuse("expiry", "Choose when the key expires.")
	}
	for name := range f.sent {
		if g, ok := strings.CutPrefix(name, "guild["); ok {
			n.GuildIDs = append(n.GuildIDs, id.Guild(strings.TrimSuffix(g, "]")))
		}
	}
	return n
}

// resentTime is how long a second sending of a form counts as a double click.
const resentTime = 10 * time.Second

// createKey answers with the secret itself. It does not redirect, since the secret would then have to be stored somewhere.
// A double click makes one key: the second answer shows a new secret, because the browser did not show the first.
func (s *Site) createKey(c *gin.Context, session *signin.Session, sent *form) error {
	n := newKey(sent, s.deps.Now())
	if sent.bad() {
		return s.showProfile(c, session, sent)
	}
	ctx, owner := c.Request.Context(), keyOwner(session)
	secret, k, err := s.deps.Keys.Create(ctx, owner, n)
	if err != nil {
		made, missing := s.findKey(ctx, session.User.ID, n.ID)
		switch {
		case missing != nil:
		case made.Name == n.Name && s.deps.Now().Sub(made.CreatedAt) < resentTime:
			k = made.Owned
			secret, err = s.deps.Keys.Rotate(ctx, owner, n.ID, 0)
		default:
			err = fault.New(fault.Conflict, "This form has made a key already. Press the button again to make another.")
		}
	}
	if err == nil {
		return s.showSecret(c, "Your new API key", secretPage{Key: s.viewKey(k), Secret: secret})
	}
	switch refused := fault.From(err); refused.Code {
	case fault.Forbidden, fault.NotFound:
		sent.refuse("guild", refused.Message)
	case fault.Conflict:
		sent.code = http.StatusConflict
		sent.refuse("", refused.Message)
	default:
		return err
	}
	return s.showProfile(c, session, sent)
}

// historyPage is the content of /profile/history.
type historyPage struct {
	Records []recordView
	Newest  bool  // it begins with the newest record
	Before  int64 // the record where the next page begins; 0 on the last page
}

// recordView is one change of a key.
type recordView struct {
	apikey.Record
	Mine   bool        // the user made it
	Guilds []community // some of its guilds
	More   int         // how many guilds are not in Guilds
}

// Shown returns the beginning of the key's text.
func (r recordView) Shown() string { return apikey.Shown(r.KeyID) }

func (s *Site) keyHistory(c *gin.Context, session *signin.Session, _ *form) (err error) {
	before := int64(0)
	if text, ok := c.GetQuery("before"); ok {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return fault.New(fault.Invalid, "The history has no such page. Start with the newest one.")
		}
	}
	content := historyPage{Newest: before == 0}
	if content.Records, content.Before, err = s.records(c.Request.Context(), session.User.ID, before, recordsShown); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "key-history", "Key history", content)
}

// records reads a part of the history. next is where the following part begins, or 0.
func (s *Site) records(ctx context.Context, user id.User, before int64, limit int) (list []recordView, next int64, err error) {
	found, err := s.deps.Keys.History(ctx, user, before, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(found) > limit {
		found, next = found[:limit], found[limit-1].Number
	}
	for _, r := range found {
		view := recordView{Record: r, Mine: r.By == apikey.User(user)}
		for _, g := range r.GuildIDs[:min(namedAtOnce, len(r.GuildIDs))] {
			known, err := s.community(ctx, g)
			if err != nil {
				return nil, 0, err
			}
			view.Guilds = append(view.Guilds, known)
		}
		view.More = len(r.GuildIDs) - len(view.Guilds)
		list = append(list, view)
	}
	return list, next, nil
}
