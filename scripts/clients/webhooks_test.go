package clients

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// post is a request that a webhook received.
type post struct {
	headers http.Header
	body    []byte
}

// The unchanged code of docs/announcements.md accepts what the service signed, and nothing else.
func TestSignaturesAreVerified(t *testing.T) {
	server := start(t, nil).ClientInterface.(*Client).Server // ends with a slash
	posts := make(chan post, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- post{r.Header, body}
	}))
	defer hook.Close()
	admin := func(method, path, body string, into any) {
		r, err := http.NewRequestWithContext(t.Context(), method, server+"admin/guilds/"+guild+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+adminToken)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode > 201 {
			t.Fatalf("%s %s is answered %s (decoding: %v), want 200 or 201", method, path, answer.Status, err)
		}
	}
	var settings struct{ Announcements []struct{ ID string } }
	admin("PUT", "", `{"name":"Gophers","memberCount":1,"ownerId":"100000000000000001","announcements":[{"name":"hook","kind":"webhook","url":"`+hook.URL+`"}]}`, &settings)
	at := "/announcements/" + settings.Announcements[0].ID
	var made struct{ Secret string }
	admin("POST", at+"/secret", "", &made)
	var tested struct{ Status int }
	admin("POST", at+"/test", "", &tested)
	got := <-posts
	for _, c := range []struct {
		secret, body string
		valid        bool
	}{{made.Secret, string(got.body), true}, {made.Secret, string(got.body) + " ", false}, {"whsec_c2VjcmV0", string(got.body), false}} {
		if err := verify(c.secret, []byte(c.body), got.headers); (err == nil) != c.valid {
			t.Errorf("Go verifies a signature of %s with %v, want it valid: %v", c.body, err, c.valid)
		}
		headers := map[string]string{}
		for name := range got.headers {
			headers[strings.ToLower(name)] = got.headers.Get(name)
		}
		arguments, _ := json.Marshal([]any{c.secret, c.body, headers})
		node := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `import { verify } from './verify.mjs'; console.log(verify(...`+string(arguments)+`))`)
		if said, err := node.CombinedOutput(); err != nil || strings.TrimSpace(string(said)) == "true" != c.valid {
			t.Errorf("JavaScript verifies a signature of %s with %s (%v), want it valid: %v", c.body, said, err, c.valid)
		}
	}
}
