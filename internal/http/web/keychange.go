package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/ownkeys"
)

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
	overlap, err := ownkeys.ParseOverlap(sent.Get("overlap"))
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
	return s.changeGrants(c, "granted", func(ctx context.Context, user ownkeys.User, keyID string, g id.Guild) error {
		return s.deps.Keys.Grant(ctx, user, keyID, g)
	})
}

func (s *Site) ungrantGuild(c *gin.Context) error {
	return s.changeGrants(c, "ungranted", func(ctx context.Context, user ownkeys.User, keyID string, g id.Guild) error {
		return s.deps.Keys.Ungrant(ctx, user.ID, keyID, g)
	})
}

func (s *Site) changeGrants(c *gin.Context, what string, change func(ctx context.Context, user ownkeys.User, keyID string, g id.Guild) error) error {
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
