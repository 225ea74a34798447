package web_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// browser is one browser: it keeps cookies and follows redirects.
type browser struct {
	t    *testing.T
	site *site
	*http.Client
}

func (s *site) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	transport := s.server.Client().Transport.(*http.Transport).Clone()
	transport.DisableCompression = true
	s.t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: s.t, site: s, Client: &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}}
}

// still returns the same browser, but it does not follow redirects.
func (b *browser) still() *browser {
	client := *b.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{t: b.t, site: b.site, Client: &client}
}

type page struct {
	t      *testing.T
	status int
	header http.Header
	path   string // the final address
	text   string
}

func (b *browser) send(method, path string, form url.Values, header ...string) page {
	b.t.Helper()
	if method == http.MethodPost {
		header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Origin", b.site.url}, header...)
	}
	return b.sendBody(method, path, form.Encode(), header...)
}

// sendBody sends a request to a path or an address.
func (b *browser) sendBody(method, url, body string, header ...string) page {
	b.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = b.site.url + url
	}
	answer, err := testenv.Send(b.t.Context(), b.Client, method, url, body, header...)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{t: b.t, status: answer.Status, header: answer.Header, path: answer.Path, text: string(answer.Body)}
}

func (b *browser) get(path string, header ...string) page {
	b.t.Helper()
	return b.send(http.MethodGet, path, nil, header...)
}

func (b *browser) post(path string, form url.Values, header ...string) page {
	b.t.Helper()
	return b.send(http.MethodPost, path, form, header...)
}

func (p page) want(status int, texts ...string) page {
	p.t.Helper()
	if p.status != status {
		p.t.Fatalf("%s: status %d, want %d\n%s", p.path, p.status, status, p.text)
	}
	for _, text := range texts {
		if !strings.Contains(p.text, text) {
			p.t.Errorf("%s: the page lacks %q:\n%s", p.path, text, p.text)
		}
	}
	return p
}

func (p page) lacks(texts ...string) page {
	p.t.Helper()
	for _, text := range texts {
		if strings.Contains(p.text, text) {
			p.t.Errorf("%s: the page has %q:\n%s", p.path, text, p.text)
		}
	}
	return p
}

// signIn signs in, and returns a page that names the user.
func (b *browser) signIn() page {
	b.t.Helper()
	return b.get("/sign-in/provider?next=/leaderboard/gophers").want(200, "Ada L.")
}

// cookie returns the value of one of the browser's cookies.
func (b *browser) cookie(name string) string {
	u, err := url.Parse(b.site.url)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}
