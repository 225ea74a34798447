package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/apikey"
	"levelboard/internal/fault"
	"levelboard/internal/id"
	"levelboard/internal/profile"
	"levelboard/internal/signin"
)

// keyContent is the content of the page of one key.
type keyContent struct {
	Done     string
	Key      keyView
	Name     string            // in the form
	Errors   map[string]string // by field: name, overlap
	Granted  []community
	Others   []community // that could be granted, too
	Overlaps []choice
}

var overlapChoices = []choice{{"none", "None: it stops now"}, {"1h", "1 hour"}, {"24h", "24 hours"}, {"7d", "7 days"}}

func (s *Site) keyPage(c *gin.Context) error {
	session, k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	return s.showKey(c, session, http.StatusOK, keyContent{Key: keyView{Key: k}, Name: k.Name})
}

// ownKey finds who is signed in, and the key of the address, if it is theirs.
func (s *Site) ownKey(c *gin.Context) (*signin.Session, profile.Key, error) {
	session, err := signedIn(c, whyKeys)
	if err != nil {
		return nil, profile.Key{}, err
	}
	k, err := s.findKey(c.Request.Context(), session.User.ID, c.Param("key"))
	return session, k, err
}

func (s *Site) findKey(ctx context.Context, user id.User, keyID string) (profile.Key, error) {
	keys, err := s.deps.Keys.Keys(ctx, user)
	if err != nil {
		return profile.Key{}, err
	}
	for _, k := range keys {
		if k.ID == keyID {
			return k, nil
		}
	}
	return profile.Key{}, fault.New(fault.NotFound, "You have no key with this id. It may have been deleted.")
}

// showKey shows the key's page, with a form that may have errors.
func (s *Site) showKey(c *gin.Context, session *signin.Session, status int, content keyContent) error {
	ctx, k := c.Request.Context(), content.Key.Key
	var err error
	if content.Granted, err = s.granted(ctx, k.Grants); err != nil {
		return err
	}
	all, err := s.grantable(ctx, session)
	if err != nil {
		return err
	}
	has := map[id.Guild]bool{}
	for _, grant := range k.Grants {
		has[grant.GuildID] = true
	}
	for _, g := range all {
		if !has[g.ID] {
			content.Others = append(content.Others, g)
		}
	}
	content.Done, content.Overlaps, content.Key.Soon = done[c.Query("done")], overlapChoices, s.soon(k)
	return s.show(c, status, "key", k.Name, content)
}

func (s *Site) renameKey(c *gin.Context) error {
	session, k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(sent.Get("name"))
	if apikey.CheckName(name) != nil {
		content := keyContent{Key: keyView{Key: k}, Name: name, Errors: map[string]string{"name": badName}}
		return s.showKey(c, session, http.StatusUnprocessableEntity, content)
	}
	if err := s.deps.Keys.Rename(c.Request.Context(), session.User.ID, k.ID, name); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/profile/keys/"+k.ID+"?done=renamed")
	return nil
}

// rotateKey answers with the secret itself, as createKey does.
func (s *Site) rotateKey(c *gin.Context) error {
	session, k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	refuse := func(status int, why string) error {
		content := keyContent{Key: keyView{Key: k}, Name: k.Name, Errors: map[string]string{"overlap": why}}
		return s.showKey(c, session, status, content)
	}
	overlap, err := profile.ParseOverlap(sent.Get("overlap"))
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "Choose how long the old secret goes on.")
	}
	secret, err := s.deps.Keys.Rotate(c.Request.Context(), session.User.ID, k.ID, overlap)
	if fault.Is(err, fault.Conflict) {
		return refuse(http.StatusConflict, fault.From(err).Message)
	}
	if err != nil {
		return err
	}
	// The key as it is now says when its old secrets stop. If it cannot be read any more, the secret is what matters.
	if now, err := s.findKey(c.Request.Context(), session.User.ID, k.ID); err == nil {
		k = now
	}
	return s.showSecret(c, "The key's new secret", secretPage{Key: k, Secret: secret, Rotated: true})
}

func (s *Site) grantGuild(c *gin.Context) error {
	return s.changeGrants(c, "granted", func(ctx context.Context, user profile.User, keyID string, g id.Guild) error {
		return s.deps.Keys.Grant(ctx, user, keyID, g)
	})
}

func (s *Site) revokeGuild(c *gin.Context) error {
	return s.changeGrants(c, "revoked", func(ctx context.Context, user profile.User, keyID string, g id.Guild) error {
		return s.deps.Keys.Revoke(ctx, user.ID, keyID, g)
	})
}

func (s *Site) changeGrants(c *gin.Context, what string, change func(ctx context.Context, user profile.User, keyID string, g id.Guild) error) error {
	session, k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	g, err := id.Parse[id.Guild](sent.Get("guild"))
	if err != nil {
		return fault.New(fault.Invalid, "Choose a community from the list of the key's page.")
	}
	if err := change(c.Request.Context(), keyOwner(session), k.ID, g); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/profile/keys/"+k.ID+"?done="+what+"#communities")
	return nil
}

func (s *Site) deleteKeyPage(c *gin.Context) error {
	_, k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "key-delete", "Delete a key", k)
}

func (s *Site) deleteKey(c *gin.Context) error {
	session, k, err := s.ownKey(c)
	if err != nil {
		return err
	}
	if err := s.deps.Keys.Delete(c.Request.Context(), session.User.ID, k.ID); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/profile?done=deleted")
	return nil
}
