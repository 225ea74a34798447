//go:build linux

package attack

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// A manager's upload is only on the replica that received it. Behind each documented proxy, its preview, confirmation and end reach that
// replica, and other requests go to both.
func TestAnImportBehindTwoReplicasReachesItsReplica(t *testing.T) {
	for name := range proxies {
		t.Run(name, func(t *testing.T) {
			provider, front := testenv.OAuth(t), testenv.FreeAddr(t)
			environ := append(provider.Environ(), "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t),
				"LEVELBOARD_PUBLIC_URL=http://"+front, "LEVELBOARD_TRUSTED_PROXIES=127.0.0.1", "LEVELBOARD_SNAPSHOT_INTERVAL=1s")
			one := start(t, environ...)
			two := run(t, environ...)
			putProxy(t, name, front, one, two)
			m := signIn(t, provider, front, "300000000000000009", guildID)
			for range 20 {
				m.get("http://"+front+"/v2/openapi.json", "openapi")
			}
			for _, user := range []string{"200000000000000777", "200000000000000778"} {
				m.imports(user)
			}
			for _, replica := range []*target{one, two} {
				if replica.metric(`levelboard_http_request_duration_seconds_count{method="GET",route="/v2/openapi.json",status="200"}`) == 0 {
					t.Error("a replica got no requests, so the test proves nothing")
				}
			}
		})
	}
}

// manager is the browser of a user who manages guilds.
type manager struct {
	t       *testing.T
	site    string
	page    string // the first guild's data page
	browser http.Client
}

// signIn signs a user who manages those guilds in at the address.
func signIn(t *testing.T, provider *testenv.OAuthServer, address, user string, guilds ...string) *manager {
	t.Helper()
	m := &manager{t: t, site: "http://" + address}
	managed := []map[string]any{}
	for _, g := range guilds {
		managed = append(managed, map[string]any{"id": g, "name": "Gophers", "owner": true, "permissions": "0"})
	}
	provider.Register(m.site + "/sign-in/callback")
	provider.SetUser(map[string]any{"id": user, "username": "ada"}, managed)
	m.browser.Jar, _ = cookiejar.New(nil)
	// Each request opens a connection, so that none stays with a replica by chance.
	m.browser.Transport = &http.Transport{DisableKeepAlives: true}
	m.get(m.site+"/sign-in/provider?next=/profile", "Sign out")
	if len(guilds) > 0 {
		m.page = m.site + "/guilds/" + guilds[0] + "/data"
	}
	return m
}

// cookies returns what the browser sends.
func (m *manager) cookies() string {
	site, err := url.Parse(m.site)
	if err != nil {
		m.t.Fatal(err)
	}
	var all []string
	for _, c := range m.browser.Jar.Cookies(site) {
		all = append(all, c.Name+"="+c.Value)
	}
	return strings.Join(all, "; ")
}

// upload uploads a file for an import, and returns the address that follows.
func (m *manager) upload(content string) (address string) {
	m.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("from", "auto")
	_ = form.WriteField("mode", "higher")
	file, _ := form.CreateFormFile("file", "members")
	_, _ = io.WriteString(file, content)
	_ = form.Close()
	address, _ = m.send("POST", m.page+"/import", form.FormDataContentType(), &body)
	return address
}

// imports imports a member, and reloads the page many times meanwhile.
func (m *manager) imports(user string) {
	m.t.Helper()
	address := m.upload("id,xp\n" + user + ",5\n" + strings.Repeat("none,1\n", 200_000)) // larger than proxies allow by default
	if !strings.Contains(address, "?job=") {
		m.t.Fatalf("the upload leads to %s, want a job's page", address)
	}
	m.sees(address, `value="confirm"`)
	m.sees(m.does("confirm", address), "(Imported|Import)")
}

// does presses a button of the job at address.
func (m *manager) does(what, address string) (at string) {
	m.t.Helper()
	_, job, _ := strings.Cut(address, "?job=")
	at, _ = m.send("POST", m.page, "application/x-www-form-urlencoded", strings.NewReader(url.Values{"do": {what}, "job": {job}}.Encode()))
	return at
}

// sees reloads the page until it no longer reloads itself, then ten times. Each time it must say the same.
func (m *manager) sees(address, says string) (found []string) {
	m.t.Helper()
	testenv.Wait(m.t, "the task ends", func() bool { return !strings.Contains(m.get(address, ""), `http-equiv="refresh"`) })
	for range 10 {
		text := m.get(address, "")
		if found = regexp.MustCompile(says).FindStringSubmatch(text); found == nil || strings.Contains(text, "does not know the task") {
			m.t.Fatalf("the page at %s does not say %s: %s", address, says, text)
		}
	}
	return found
}

func (m *manager) get(address, says string) string {
	m.t.Helper()
	_, text := m.send("GET", address, "", nil)
	if !strings.Contains(text, says) {
		m.t.Fatalf("the page at %s lacks %q: %s", address, says, text)
	}
	return text
}

func (m *manager) send(method, address, contentType string, body io.Reader) (at, text string) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, address, body)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := m.browser.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		m.t.Fatalf("%s %s: %d (%v), want 200: %.2000s", method, address, answer.StatusCode, err, read)
	}
	return answer.Request.URL.String(), string(read)
}
