package web

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/ownkeys"
	"levelboard/internal/usecase/signin"
)

// Keys is what users do with their own API keys (package profile). Its errors are faults.
type Keys interface {
	Keys(ctx context.Context, user id.User) ([]ownkeys.Key, error)
	History(ctx context.Context, user id.User, before int64, limit int) ([]apikey.Record, error)
	Create(ctx context.Context, user ownkeys.User, n ownkeys.NewKey) (secret string, k ownkeys.Key, err error)
	Rename(ctx context.Context, user id.User, keyID, name string) error
	Rotate(ctx context.Context, user id.User, keyID string, overlap ownkeys.Overlap) (secret string, err error)
	Grant(ctx context.Context, user ownkeys.User, keyID string, g id.Guild) error
	Ungrant(ctx context.Context, user id.User, keyID string, g id.Guild) error
	Delete(ctx context.Context, user id.User, keyID string) error
}

const (
	// keysShown is how many keys are on one page; only those whom the operator made more keys than one may have have a second.
	keysShown = ownkeys.MaxKeys
	// recentRecords is how much of the history is on the profile itself.
	recentRecords = 5
	// soonTime is how long before its end a key is marked.
	soonTime = 3 * 24 * time.Hour
)

const whyKeys = "Sign in to make API keys for your bots, and to look after the ones that you have."

func (s *Site) profileRoutes(pages gin.IRouter) {
	get(pages, "/profile", s.handle(s.profile))
	pages.POST("/profile", s.handle(s.createKey))
	get(pages, "/profile/history", s.handle(s.keyHistory))
	get(pages, "/profile/keys/:key", s.handle(s.keyPage))
	pages.POST("/profile/keys/:key", s.handle(s.renameKey))
	pages.POST("/profile/keys/:key/rotate", s.handle(s.rotateKey))
	pages.POST("/profile/keys/:key/grant", s.handle(s.grantGuild))
	pages.POST("/profile/keys/:key/ungrant", s.handle(s.ungrantGuild))
	get(pages, "/profile/keys/:key/delete", s.handle(s.deleteKeyPage))
	pages.POST("/profile/keys/:key/delete", s.handle(s.deleteKey))
}

// profilePage is the content of /profile.
type profilePage struct {
	Done          string // what was just done, or empty
	Keys          []keyView
	Total, Most   int
	Before, After int64 // numbers of the pages beside this one, or 0
	Form          keyForm
	Guilds        []community // that can be granted
	Managed       int         // how many guilds the provider says the user manages, known here or not
	Unconfirmed   bool        // the provider could not say
	History       []recordView
}

// Full reports whether the user has as many keys as they may have.
func (p profilePage) Full() bool { return p.Total >= p.Most }

// done is what a change that was made leads to, by the word in the address.
var done = map[string]string{
	"renamed":   "The key has its new name.",
	"granted":   "The key works in that community now.",
	"ungranted": "The key does not work in that community any more.",
	"deleted":   "The key is deleted, for ever.",
}

func (s *Site) profile(c *gin.Context) error {
	session, err := signedIn(c, whyKeys)
	if err != nil {
		return err
	}
	return s.showProfile(c, session, http.StatusOK, newKeyForm())
}

// showProfile shows the profile with a form that may have errors.
func (s *Site) showProfile(c *gin.Context, session *signin.Session, status int, form keyForm) error {
	ctx := c.Request.Context()
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	keys, err := s.deps.Keys.Keys(ctx, session.User.ID)
	if err != nil {
		return err
	}
	content := profilePage{
		Done: done[c.Query("done")], Total: len(keys), Most: ownkeys.MaxKeys, Form: form,
		Managed: len(session.Managed()), Unconfirmed: session.Unconfirmed,
	}
	content.Before, content.After = number-1, number+1
	first := int(min((number-1)*keysShown, int64(len(keys))))
	keys = keys[first:]
	if len(keys) <= keysShown {
		content.After = 0
	}
	if content.Keys, err = s.keyViews(ctx, keys[:min(keysShown, len(keys))]); err != nil {
		return err
	}
	if content.Guilds, err = s.grantable(ctx, session); err != nil {
		return err
	}
	if content.History, _, err = s.records(ctx, session.User.ID, 0, recentRecords); err != nil {
		return err
	}
	return s.show(c, status, "profile", "Your API keys", content)
}
