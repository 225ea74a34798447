package web

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/ownkeys"
	"levelboard/internal/usecase/signin"
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
func (s *Site) ownKey(c *gin.Context) (*signin.Session, ownkeys.Key, error) {
	session, err := signedIn(c, whyKeys)
	if err != nil {
		return nil, ownkeys.Key{}, err
	}
	k, err := s.findKey(c.Request.Context(), session.User.ID, c.Param("key"))
	return session, k, err
}

func (s *Site) findKey(ctx context.Context, user id.User, keyID string) (ownkeys.Key, error) {
	keys, err := s.deps.Keys.Keys(ctx, user)
	if err != nil {
		return ownkeys.Key{}, err
	}
	for _, k := range keys {
		if k.ID == keyID {
			return k, nil
		}
	}
	return ownkeys.Key{}, fault.New(fault.NotFound, "You have no key with this id. It may have been deleted.")
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
