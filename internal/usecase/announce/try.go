package announce

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hashicorp/go-retryablehttp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/platform/outbound"
)

// unknownMessage is Discord's code for a deleted message.
const unknownMessage = 10008

// try posts once. A board's message that was deleted by hand is posted again.
func (d *delivery) try(ctx context.Context, p post) (outbound.Answer, error) {
	r, err := d.request(p)
	if err != nil {
		return outbound.Answer{}, err
	}
	answer, err := d.client.Do(ctx, r)
	if err != nil || d.Kind != announcement.Board {
		return answer, err
	}
	var said struct {
		ID   string `json:"id"`
		Code int    `json:"code"`
	}
	_ = json.Unmarshal(answer.Body, &said)
	switch {
	case answer.Status == http.StatusNotFound && said.Code == unknownMessage && d.Message != "":
		d.Message = ""
		return d.try(ctx, p)
	case problem(answer, nil) == "":
		d.Message, d.Shown = cmp.Or(d.Message, said.ID), digest(p.text)
	}
	return answer, nil
}

// request makes the request of a try. Its error does not show the address.
func (d *delivery) request(p post) (*http.Request, error) {
	body := []byte(p.text)
	if d.Kind != announcement.Webhook {
		nobodyElse := map[string]any{"parse": []string{}, "users": p.mentioned}
		body, _ = json.Marshal(map[string]any{"content": p.text, "allowed_mentions": nobodyElse}, json.Deterministic(true)) // never fails
	}
	r, err := http.NewRequest(http.MethodPost, string(d.settings.URL), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its address is malformed")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Levelboard")
	switch {
	case d.Kind == announcement.Webhook:
		return r, sign(r, d.Secret, p.id, body)
	case d.Kind == announcement.Board && d.Message == "": // so that the answer has its id
		query := r.URL.Query()
		query.Set("wait", "true")
		r.URL.RawQuery = query.Encode()
	case d.Kind == announcement.Board:
		r.Method, r.URL = http.MethodPatch, r.URL.JoinPath("messages", d.Message)
	}
	return r, nil
}

// sign signs a request as Standard Webhooks says.
func sign(r *http.Request, secret []byte, messageID string, body []byte) error {
	signer, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		return err
	}
	now := time.Now()
	signature, err := signer.Sign(messageID, now, body)
	r.Header.Set(standardwebhooks.HeaderWebhookID, messageID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return err
}

// problem says in words why a try failed, or "" if the post was accepted.
func problem(a outbound.Answer, err error) string {
	said := fmt.Sprintf("The webhook answered %d %s.", a.Status, http.StatusText(a.Status))
	switch {
	case err != nil:
		return "It could not be sent: " + err.Error() + "."
	case a.Status/100 == 2:
		return ""
	case a.Status/100 == 3:
		return said + " Redirects are not followed: enter the address that it leads to."
	case isGone(a.Status):
		return said + " The webhook does not exist, or may not be used any more: enter its new address."
	}
	return said
}

// waitAfter returns the wait before the next try: what a busy host asks for in its header, else twice as long each time. Discord's body has a more
// exact number of seconds, or of milliseconds in services that imitate an old Discord.
func (d *delivery) waitAfter(a outbound.Answer, tries int) time.Duration {
	wait := retryablehttp.DefaultBackoff(d.every, oldest, tries-1, &http.Response{StatusCode: a.Status, Header: a.Header})
	var body struct {
		RetryAfter float64 `json:"retry_after"`
	}
	if a.Status == http.StatusTooManyRequests && json.Unmarshal(a.Body, &body) == nil && body.RetryAfter > 0 {
		unit := time.Second
		if body.RetryAfter >= 1000 {
			unit = time.Millisecond
		}
		if said := time.Duration(min(body.RetryAfter, 1e6) * float64(unit)); said < wait || a.Header.Get("Retry-After") == "" {
			wait = said
		}
	}
	return min(max(wait, d.every), oldest) + rand.N(d.every/4)
}
