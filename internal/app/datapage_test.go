package app_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// dataManager is a manager's browser on the page of a guild's data.
type dataManager struct {
	*service
	browser *http.Client
	page    string // the page's address
}

// dataPage signs in a new user who owns the guild.
func (s *service) dataPage(provider *testenv.OAuthServer, g string) *dataManager {
	s.t.Helper()
	provider.SetUser(object{"id": newID(), "username": "ada"}, []object{{"id": g, "name": "Moles", "owner": true, "permissions": "0"}})
	m := &dataManager{s, newBrowser(s.t), s.app.URL() + "/guilds/" + g + "/data"}
	status, text := visit(s.t, m.browser, "GET", s.app.URL()+"/sign-in/provider?next="+url.QueryEscape("/guilds/"+g+"/data"), "")
	if status != 200 || !strings.Contains(text, "Upload and preview") {
		s.t.Fatalf("the data page after signing in is %d %s, want its upload form", status, text)
	}
	return m
}

// upload sends a file with the import form and returns the page that follows.
func (m *dataManager) upload(mode, content string) (int, string) {
	m.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("from", "auto")
	_ = form.WriteField("mode", mode)
	file, _ := form.CreateFormFile("file", "members.csv")
	_, _ = io.WriteString(file, content)
	_ = form.Close()
	answer, err := testenv.Send(m.t.Context(), m.browser, "POST", m.page+"/import", body.String(),
		"Content-Type", form.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
	if err != nil {
		m.t.Fatal(err)
	}
	return answer.Status, string(answer.Body)
}

// do submits a form and waits until the page contains says.
func (m *dataManager) do(form url.Values, says string) (text string) {
	m.t.Helper()
	if status, text := visit(m.t, m.browser, "POST", m.page, form.Encode()); status != 200 {
		m.t.Fatalf("submitting %v: %d %s", form, status, text)
	}
	return m.sees(says)
}

// sees reloads the page, as the page does by itself, until it contains says.
func (m *dataManager) sees(says string) (text string) {
	m.t.Helper()
	testenv.Wait(m.t, "the page says "+says, func() bool {
		_, text = visit(m.t, m.browser, "GET", m.page, "")
		return !strings.Contains(text, `http-equiv="refresh"`)
	})
	if !strings.Contains(text, says) {
		m.t.Fatalf("the page lacks %q: %s", says, text)
	}
	return text
}

var hiddenField = regexp.MustCompile(`name="(job|checkpoint)" value="([^"]*)"`)

// fields returns the hidden fields of the first form on the page that has some.
func fields(text string) url.Values {
	found := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(text, -1) {
		if !found.Has(field[1]) {
			found.Set(field[1], field[2])
		}
	}
	return found
}

func pressing(do string, form url.Values) url.Values {
	form.Set("do", do)
	return form
}

// refusesWhatTheCommandBegan uploads a file whose import the command began and did not end: only the command may continue it.
func (m *dataManager) refusesWhatTheCommandBegan(g, key string) {
	m.t.Helper()
	u, hash := newID(), func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	file, body := "id,xp\n"+u+",900\n", `{"mode":"add","members":[{"userId":"`+u+`","xp":900}]}`
	begun := m.beginImport(g, object{"files": hash(hash(file)), "plan": hash(body)})
	m.admin("PUT", "/guilds/"+g+"/members", body, apitest.Header("Idempotency-Key", begun.ID+"-0")).Want(m.t, 200)
	m.upload("add", file)
	m.do(pressing("confirm", fields(m.sees("Preview of the import"))), "was begun with the command")
	if xp := m.member(key, g, u).Level.XP; xp != 900 {
		m.t.Errorf("after the refused upload the member has %d XP, want 900", xp)
	}
}

// importOnThePages uploads a file, reads the preview, confirms it and undoes it, without JavaScript.
func importOnThePages(t *testing.T, s *service, provider *testenv.OAuthServer) {
	g, there, fresh := s.guild(object{"name": "Moles"}), newID(), newID()
	key := s.key(g)
	s.create(key, g, there, 50)
	m := s.dataPage(provider, g)
	file := "id,xp\n" + there + ",900\n" + fresh + ",100\n12,4\n"
	if status, text := m.upload("add", file); status != 200 {
		t.Fatalf("uploading a file: %d %s", status, text)
	}
	preview := m.sees("Preview of the import")
	for _, says := range []string{"Import 2 members", "line 4, row 3: the user id is not 17 to 19 digits", "Nothing has changed yet"} {
		if !strings.Contains(preview, says) {
			t.Errorf("the preview lacks %q: %s", says, preview)
		}
	}
	if xp := s.member(key, g, there).Level.XP; xp != 50 {
		t.Errorf("before the import is confirmed the member has %d XP, want 50", xp)
	}
	done := m.do(pressing("confirm", fields(preview)), "Imported 2 members: 1 new, 1 changed, 0 unchanged. 1 row skipped.")
	if was, is := s.member(key, g, there).Level.XP, s.member(key, g, fresh).Level.XP; was != 950 || is != 100 {
		t.Errorf("after the import they have %d and %d XP, want 950 and 100", was, is)
	}
	m.upload("add", file)
	m.do(pressing("confirm", fields(m.sees("Preview of the import"))), "already added to this community")
	m.do(pressing("restore", fields(done)), "1 member restored.")
	wantFailure(t, s.Do("GET", memberPath(g, fresh), key, nil), 404)
	if xp := s.member(key, g, there).Level.XP; xp != 50 {
		t.Errorf("after the undo the member has %d XP, want 50", xp)
	}
	m.refusesWhatTheCommandBegan(g, key)
}
