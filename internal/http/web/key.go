package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/signin"
)

// keyVisit is a request about one of the user's own keys.
type keyVisit struct {
	*signin.Session
	key  keyView
	sent *form
}

// ofKey calls a handler with the user and the key in the address, if the key is theirs.
func (s *Site) ofKey(h func(c *gin.Context, v keyVisit) error) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		session, err := signedIn(c, whyKeys)
		if err != nil {
			return err
		}
		k, err := s.findKey(c.Request.Context(), session.User.ID, c.Param("key"))
		if err != nil {
			return err
		}
		sent, err := readForm(c)
		if err != nil {
			return err
		}
		return h(c, keyVisit{session, k, sent})
	})
}

func (s *Site) findKey(ctx context.Context, user id.User, keyID string) (keyView, error) {
	owned, err := s.deps.Keys.Owned(ctx, user)
	if err != nil {
		return keyView{}, err
	}
	for _, k := range owned {
		if k.ID == keyID {
			return s.viewKey(k), nil
		}
	}
	return keyView{}, fault.New(fault.NotFound, "You have no key with this ID. It may have been deleted.")
}

// keyView is a key on the pages.
type keyView struct {
	apikey.Owned
	Shown    string // the beginning of the key's text
	Expired  bool
	Soon     bool       // it expires soon
	OldUntil *time.Time // when its last secret from before a rotation stops; nil if none works
	Guilds   []community
	More     int // how many guilds are not in Guilds
}

func (s *Site) viewKey(k apikey.Owned) keyView {
	now := s.deps.Now()
	view := keyView{Owned: k, Shown: apikey.Shown(k.ID), Expired: k.Expired(now), OldUntil: k.OldUntil(now)}
	view.Soon = !view.Expired && k.ExpiresAt != nil && k.ExpiresAt.Sub(now) < soonTime
	return view
}

// keyPage is the content of the page of one key.
type keyPage struct {
	Done    string
	Key     keyView
	Form    *form
	Granted []community
	Others  []community // the guilds that can also be granted
}

func (s *Site) key(c *gin.Context, v keyVisit) error {
	return s.showKey(c, v, nil)
}

// showKey shows the key's page. f is a form with errors, or nil.
func (s *Site) showKey(c *gin.Context, v keyVisit, f *form) (err error) {
	content := keyPage{Done: done[c.Query("done")], Key: v.key, Form: f}
	if content.Granted, err = s.granted(c.Request.Context(), v.key.Grants); err != nil {
		return err
	}
	if content.Others, err = s.grantable(c.Request.Context(), v.Session); err != nil {
		return err
	}
	content.Others = slices.DeleteFunc(content.Others, func(g community) bool {
		return slices.ContainsFunc(v.key.Grants, func(grant apikey.Grant) bool { return grant.GuildID == g.ID })
	})
	return s.show(c, f.status(), "key", v.key.Name, content)
}

// toKey redirects to the key's page, which says what was done, unless err is set.
func toKey(c *gin.Context, v keyVisit, done string, err error) error {
	if err == nil {
		c.Redirect(http.StatusSeeOther, "/profile/keys/"+v.key.ID+"?done="+done)
	}
	return err
}

func (s *Site) renameKey(c *gin.Context, v keyVisit) error {
	name := v.sent.Value("name")
	if apikey.CheckName(name) != nil {
		v.sent.refuse("name", badName)
		return s.showKey(c, v, v.sent)
	}
	return toKey(c, v, "renamed", s.deps.Keys.Rename(c.Request.Context(), keyOwner(v.Session), v.key.ID, name))
}

// rotateKey answers with the secret itself, as createKey does.
func (s *Site) rotateKey(c *gin.Context, v keyVisit) error {
	overlap, err := keys.ParseOverlap(v.sent.Value("overlap"))
	if err != nil {
		v.sent.refuse("overlap", "Choose when the old secret expires.")
		return s.showKey(c, v, v.sent)
	}
	secret, err := s.deps.Keys.Rotate(c.Request.Context(), keyOwner(v.Session), v.key.ID, overlap)
	if fault.Is(err, fault.Conflict) {
		v.sent.code = http.StatusConflict
		v.sent.refuse("", fault.From(err).Message)
		return s.showKey(c, v, v.sent)
	}
	if err != nil {
		return err
	}
	// Read the key for the times at which its old secrets stop. If that fails, still show the secret.
	if now, err := s.findKey(c.Request.Context(), v.User.ID, v.key.ID); err == nil {
		v.key = now
	}
	return s.showSecret(c, "New secret", secretPage{Key: v.key, Secret: secret, Rotated: true})
}

func (s *Site) grantGuild(c *gin.Context, v keyVisit) error {
	g, err := v.guild()
	if err == nil {
		err = s.deps.Keys.Grant(c.Request.Context(), keyOwner(v.Session), v.key.ID, g)
	}
	return toKey(c, v, "granted#communities", err)
}

func (s *Site) ungrantGuild(c *gin.Context, v keyVisit) error {
	g, err := v.guild()
	if err == nil {
		err = s.deps.Keys.Ungrant(c.Request.Context(), keyOwner(v.Session), v.key.ID, g)
	}
	return toKey(c, v, "ungranted#communities", err)
}

func (v keyVisit) guild() (id.Guild, error) {
	g, err := id.Parse[id.Guild](v.sent.Value("guild"))
	if err != nil {
		return "", fault.New(fault.Invalid, "Choose a community from the list on the key's page.")
	}
	return g, nil
}

func (s *Site) askToDeleteKey(c *gin.Context, v keyVisit) error {
	return s.show(c, http.StatusOK, "key-delete", "Delete a key", v.key)
}

func (s *Site) deleteKey(c *gin.Context, v keyVisit) error {
	if err := s.deps.Keys.Revoke(c.Request.Context(), keyOwner(v.Session), v.key.ID); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/profile?done=deleted")
	return nil
}

// secretPage is the content of the only page that ever shows a secret.
type secretPage struct {
	Key     keyView
	Secret  string
	Rotated bool
}

// showSecret relies on guard: no browser or cache keeps the page.
func (s *Site) showSecret(c *gin.Context, title string, content secretPage) error {
	pageOf(c).secret = true
	return s.show(c, http.StatusOK, "key-secret", title, content)
}

// community is a guild on the pages about keys.
type community struct {
	ID       id.Guild
	Name     string // the id if the name is not known
	Icon     string // icon hash, or empty
	Operator bool   // for a grant: the operator made it
}

// namedAtOnce is how many guilds a line names. It counts the others.
const namedAtOnce = 3

// granted returns the guilds of grants, by name.
func (s *Site) granted(ctx context.Context, grants []apikey.Grant) ([]community, error) {
	list := make([]community, 0, len(grants))
	for _, grant := range grants {
		known, err := s.community(ctx, grant.GuildID)
		if err != nil {
			return nil, err
		}
		known.Operator = grant.By == apikey.Operator
		list = append(list, known)
	}
	slices.SortFunc(list, byName)
	return list, nil
}

// grantable returns the guilds that the user manages according to the provider, and that are known here, by name.
func (s *Site) grantable(ctx context.Context, session *signin.Session) ([]community, error) {
	var list []community
	for _, managed := range session.Managed() {
		g, err := s.deps.Guilds.ByID(ctx, managed.ID)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, communityOf(g))
	}
	slices.SortFunc(list, byName)
	return list, nil
}

// managedBy returns the guilds that the user manages, according to the provider or to their settings, by name.
func (s *Site) managedBy(ctx context.Context, session *signin.Session) ([]community, error) {
	list, err := s.grantable(ctx, session)
	if err != nil {
		return nil, err
	}
	bySettings, err := s.deps.Settings.ManagedBy(ctx, session.User.ID)
	if err != nil {
		return nil, err
	}
	for _, g := range bySettings {
		if !slices.ContainsFunc(list, func(known community) bool { return known.ID == g.ID }) {
			list = append(list, communityOf(g))
		}
	}
	slices.SortFunc(list, byName)
	return list, nil
}

// community returns the name of a guild. A deleted guild is named by its id.
func (s *Site) community(ctx context.Context, gid id.Guild) (community, error) {
	g, err := s.deps.Guilds.ByID(ctx, gid)
	if fault.Is(err, fault.NotFound) {
		return community{ID: gid, Name: string(gid)}, nil
	}
	if err != nil {
		return community{}, err
	}
	return communityOf(g), nil
}

func communityOf(g *guild.Guild) community {
	return community{ID: g.ID, Name: nameOr(g.Name, g.ID), Icon: text(g.Icon)}
}

func byName(a, b community) int {
	return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
}

// keyOwner returns the user as the owner of keys, with the guilds that they may grant.
func keyOwner(session *signin.Session) keys.By {
	by := keys.User(session.User.ID)
	for _, g := range session.Managed() {
		by.Guilds = append(by.Guilds, g.ID)
	}
	return by
}
