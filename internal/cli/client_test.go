package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// listen serves h and returns the environment for its clients.
func listen(t *testing.T, h http.HandlerFunc) []string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return []string{"LEVELBOARD_URL=" + server.URL, "LEVELBOARD_ADMIN_TOKEN=token"}
}

func TestListsFollowTheirPages(t *testing.T) {
	environ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("Authorization is %q, want the token", r.Header.Get("Authorization"))
		}
		switch after := r.URL.Query().Get("after"); after {
		case "":
			fmt.Fprint(w, `{"guilds":[{"id":"100000000000000001","name":"One","memberCount":1,"ownerId":"100000000000000003"}],"next":"100000000000000001"}`)
		case "100000000000000001":
			fmt.Fprint(w, `{"guilds":[{"id":"100000000000000002","name":"Two\u001b[2J","memberCount":1,"ownerId":"100000000000000003"}],"next":null}`)
		default:
			t.Errorf("the client asks for a page after %q", after)
		}
	})
	out := succeed(t, environ, "", "guild", "list")
	if lines := strings.Count(out, "\n"); lines != 3 || !strings.Contains(out, "One") || !strings.Contains(out, "Two") {
		t.Errorf("the list is %q, want a header and both guilds", out)
	}
	if strings.Contains(out, "\x1b") {
		t.Error("a name's control characters reached the terminal")
	}
	var merged struct {
		Guilds []struct{ ID string }
		Next   *string
	}
	if err := json.Unmarshal([]byte(succeed(t, environ, "", "guild", "list", "--json")), &merged); err != nil {
		t.Fatal(err)
	}
	if len(merged.Guilds) != 2 || merged.Next != nil {
		t.Errorf("the merged list is %+v, want both guilds and no next page", merged)
	}
}

func TestAnEndlessListIsAnError(t *testing.T) {
	environ := listen(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[],"next":"same"}`) })
	fail(t, environ, exitFailed, "does not end", "key", "list")
}

func TestTheServicesMessageIsPrinted(t *testing.T) {
	environ := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"message":"That vanity belongs to another guild."}`)
	})
	fail(t, environ, exitFailed, "levelboard: the service answered 409: That vanity belongs to another guild.\n", "guild", "get", "100000000000000001")
}

// Bots have the address of the API, so people give that to the command too.
func TestTheAPIsAddressIsAccepted(t *testing.T) {
	environ, a := startService(t)
	for _, path := range []string{"/v2", "/v2/"} {
		succeed(t, environ, "", "guild", "list", "--url", a.URL()+path)
		succeed(t, append(environ, "LEVELBOARD_URL="+a.URL()+path), "", "key", "list")
	}
}

func TestOtherServersAreRecognized(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with Authorization %q", r.Header.Get("Authorization"))
	}))
	defer target.Close()
	for name, h := range map[string]http.HandlerFunc{
		"another program": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) },
		"a redirect":      func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			fail(t, listen(t, h), exitFailed, "check the address", "guild", "list")
		})
	}
	fail(t, listen(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }), exitFailed, "cannot be read", "guild", "list")
	fail(t, listen(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), exitFailed, "cannot be reached", "guild", "list")
}
