package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/ownkeys"
)

// keyForm is the form for a new key: what was sent in it, and what is wrong with it.
type keyForm struct {
	Name, Permission, Expiry string
	Guilds                   []string
	Errors                   map[string]string // by field: name, permission, expiry, guild; "" for what concerns none
}

// Has reports whether the guild is ticked.
func (f keyForm) Has(g id.Guild) bool { return slices.Contains(f.Guilds, string(g)) }

// choice is one option of a field.
type choice struct{ Value, Text string }

// Expiries are the lifetimes to choose from.
func (keyForm) Expiries() []choice {
	return []choice{{"7", "7 days"}, {"30", "30 days"}, {"90", "90 days"}, {"365", "a year"}, {"never", "Never"}}
}

// Permissions are what a key may be allowed.
func (keyForm) Permissions() []choice {
	return []choice{{string(apikey.Read), "Read only"}, {string(apikey.ReadWrite), "Read and write"}}
}

// newKeyForm is the form as it is found: a key that may do little, and not for ever, unless one chooses otherwise.
func newKeyForm() keyForm {
	return keyForm{Permission: string(apikey.Read), Expiry: "90"}
}

const badName = "Write a name that can be seen, on one line, without marks that turn the direction of text, " +
	"and of at most 100 bytes: 100 letters of English, fewer of other scripts."

// read checks the fields; the errors are in f.Errors, and there is a key to make when there are none.
func (f *keyForm) read(sent url.Values) (n ownkeys.NewKey) {
	*f = keyForm{
		Name: strings.TrimSpace(sent.Get("name")), Permission: sent.Get("permission"), Expiry: sent.Get("expiry"),
		Guilds: sent["guild"], Errors: map[string]string{},
	}
	var err error
	if n.Name = f.Name; apikey.CheckName(n.Name) != nil {
		f.Errors["name"] = badName
	}
	if n.Permission, err = apikey.ParsePermission(f.Permission); err != nil {
		f.Errors["permission"] = "Choose what the key may do."
	}
	if n.Lifetime, err = ownkeys.ParseLifetime(f.Expiry); err != nil {
		f.Errors["expiry"] = "Choose when the key expires."
	}
	for _, text := range f.Guilds {
		g, err := id.Parse[id.Guild](text)
		if err != nil {
			f.Errors["guild"] = "Choose from the list."
		}
		n.Guilds = append(n.Guilds, g)
	}
	return n
}

// refuse notes why the key was not made, and returns the status; 0 for what is no matter of the form.
func (f *keyForm) refuse(why error) int {
	refused := fault.From(why)
	switch refused.Code {
	case fault.Forbidden, fault.NotFound:
		f.Errors["guild"] = refused.Message
	case fault.Conflict:
		f.Errors[""] = refused.Message
		return http.StatusConflict
	case fault.Invalid:
		f.Errors[""] = refused.Message
	default:
		return 0
	}
	return http.StatusUnprocessableEntity
}

// createKey answers with the secret itself and leads nowhere: to show it on another page it would have to be kept somewhere.
func (s *Site) createKey(c *gin.Context) error {
	session, err := signedIn(c, whyKeys)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	var form keyForm
	n := form.read(sent)
	if len(form.Errors) > 0 {
		return s.showProfile(c, session, http.StatusUnprocessableEntity, form)
	}
	secret, k, err := s.deps.Keys.Create(c.Request.Context(), keyOwner(session), n)
	if err != nil {
		if status := form.refuse(err); status != 0 {
			return s.showProfile(c, session, status, form)
		}
		return err
	}
	return s.showSecret(c, "Your new API key", secretPage{Key: k, Secret: secret})
}

// secretPage is the content of the one page that ever shows a secret.
type secretPage struct {
	Key     ownkeys.Key
	Secret  string
	Rotated bool
}

// showSecret relies on guard, by which no page is kept by a browser or a cache.
func (s *Site) showSecret(c *gin.Context, title string, content secretPage) error {
	return s.show(c, http.StatusOK, "key-secret", title, content)
}
