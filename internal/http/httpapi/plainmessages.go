package httpapi

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

// maxString is the longest string of user data, in bytes.
const maxString = 256

// plainMessage is a message as the JSON library reads it, with ids as plain strings, which it reads fast. The library refuses unknown and repeated names and text that is not UTF-8.
type plainMessage struct {
	UserID          string                           `json:"userId"`
	ChannelID       string                           `json:"channelId"`
	ParentChannelID *string                          `json:"parentChannelId"`
	RoleIDs         plainRoles                       `json:"roleIds"`
	User            strictjson.Optional[plainAuthor] `json:"user"`
}

type plainAuthor struct {
	Avatar        strictjson.Optional[*string] `json:"avatar"`
	Discriminator strictjson.Optional[string]  `json:"discriminator"`
	Username      strictjson.Optional[string]  `json:"username"`
	GlobalName    strictjson.Optional[*string] `json:"globalName"`
}

// plainRoles are read no further than to the first one too many or invalid: a body has room for many more.
type plainRoles []id.Role

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (r *plainRoles) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	for token, err := d.ReadToken(); ; token, err = d.ReadToken() {
		switch kind := token.Kind(); {
		case err != nil:
			return err
		case kind == '[' && *r == nil:
			*r = plainRoles{}
		case kind == '"' && *r != nil && len(*r) < maxRoles && id.Valid(token.String()):
			*r = append(*r, id.Role(token.String()))
		case kind == ']':
			return nil
		default:
			return errors.New("not a list of roles")
		}
	}
}

// plainMessages reads a body in which nothing is wrong by the JSON library alone, for a third of what decodeMessages costs. It accepts nothing
// that decodeMessages refuses and reads the same; everything else it leaves to that, errors included.
func plainMessages(sent []byte) ([]leaderboard.Message, bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(sent), json.RejectUnknownMembers(true))
	next := func(kind jsontext.Kind) bool {
		token, err := d.ReadToken()
		return err == nil && token.Kind() == kind && (kind != '"' || token.String() == "messages")
	}
	if !next('{') || !next('"') || !next('[') {
		return nil, false
	}
	var messages []leaderboard.Message
	for d.PeekKind() != ']' {
		var m plainMessage
		if len(messages) == maxMessages || json.UnmarshalDecode(d, &m) != nil {
			return nil, false
		}
		message, ok := m.message()
		if !ok {
			return nil, false
		}
		messages = append(messages, message)
	}
	if len(messages) == 0 || !next(']') || !next('}') {
		return nil, false
	}
	_, err := d.ReadToken()
	return messages, errors.Is(err, io.EOF)
}

// message also reports whether the message is valid.
func (m *plainMessage) message() (message leaderboard.Message, ok bool) {
	message.UserID, message.Channel, message.Roles = id.User(m.UserID), id.Channel(m.ChannelID), m.RoleIDs
	ok = id.Valid(m.UserID) && id.Valid(m.ChannelID)
	if m.ParentChannelID != nil {
		message.Parent = id.Channel(*m.ParentChannelID)
		ok = ok && id.Valid(*m.ParentChannelID)
	}
	if author, given := m.User.Get(); given && ok {
		message.Data, ok = author.user()
	}
	return message, ok
}

func (a *plainAuthor) user() (u *leaderboard.User, ok bool) {
	u = &leaderboard.User{GlobalName: a.GlobalName.Or(nil)}
	var hasAvatar, hasDiscriminator, hasUsername bool
	u.Avatar, hasAvatar = a.Avatar.Get()
	u.Discriminator, hasDiscriminator = a.Discriminator.Get()
	u.Username, hasUsername = a.Username.Get()
	ok = hasAvatar && hasDiscriminator && hasUsername && fits(u.Discriminator) && fits(u.Username)
	return u, ok && (u.Avatar == nil || guild.ValidHash(*u.Avatar)) && (u.GlobalName == nil || fits(*u.GlobalName))
}

func fits(text string) bool { return len(text) <= maxString && strings.IndexByte(text, 0) < 0 }
