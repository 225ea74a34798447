package announce

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/id"
)

// discordBody is a message. Nobody is mentioned but the users that it names.
type discordBody struct {
	Content  string `json:"content"`
	Mentions struct {
		Parse []string  `json:"parse"`
		Users []id.User `json:"users,omitempty"`
	} `json:"allowed_mentions"`
}

// discordMessage is the body of a message that mentions users; empty ids stand for nobody.
func discordMessage(text string, mentioned []id.User) []byte {
	b := discordBody{Content: text}
	b.Mentions.Parse = []string{}
	for _, user := range mentioned {
		if user != "" && !slices.Contains(b.Mentions.Users, user) {
			b.Mentions.Users = append(b.Mentions.Users, user)
		}
	}
	return encode(b)
}

// errAddress says that an address cannot be used, without it.
var errAddress = errors.New("its address is malformed")

// messageURL is the address of a message of a webhook, or with an empty id the one that answers with a new message.
func messageURL(webhook announcement.Secret, message string) (string, error) {
	u, err := url.Parse(webhook.Reveal())
	if err != nil {
		return "", errAddress
	}
	if message != "" {
		return u.JoinPath("messages", message).String(), nil
	}
	query := u.Query()
	query.Set("wait", "true")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// webhookBody is an event of a guild, with its data, as webhooks get it.
func webhookBody(g id.Guild, name string, at time.Time, data []byte) []byte {
	return encode(struct {
		Type      string         `json:"type"`
		Timestamp time.Time      `json:"timestamp"`
		Data      jsontext.Value `json:"data"`
	}{name, at.UTC(), append([]byte(`{"guildId":"`+string(g)+`",`), data[1:]...)}) // data is an object with properties
}

// webhookRequest signs a body as Standard Webhooks says.
func webhookRequest(address announcement.Secret, secret []byte, messageID string, body []byte) (*http.Request, error) {
	r, err := newRequest(http.MethodPost, address.Reveal(), body)
	if err != nil {
		return nil, err
	}
	signer, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	signature, err := signer.Sign(messageID, now, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set(standardwebhooks.HeaderWebhookID, messageID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return r, nil
}

func newRequest(method, address string, body []byte) (*http.Request, error) {
	r, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errAddress // err shows it
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Levelboard")
	return r, nil
}

// encode writes JSON of text and numbers, which always can be.
func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return b
}
