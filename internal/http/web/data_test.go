package web_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime/multipart"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/jobs"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

const dataAddress = "/guilds/" + string(public) + "/data"

// newDataWorld returns a settingsWorld with the data page, and the folder with its uploads.
func newDataWorld(t *testing.T) (*settingsWorld, string) {
	t.Helper()
	dir := t.TempDir()
	w := newSettingsWorldWith(t, func(w *settingsWorld, s *site, live *redisstore.Store, hydrator *hydrate.Hydrator) {
		s.deps.Checkpoints = checkpoints.New(w.archive, live, hydrator, w, checkpoints.Options{})
		s.deps.Audit = audit.NewLog(w.archive, live)
		s.deps.Board, s.deps.Finder, s.deps.Periods = w.board, leaderboard.NewFinder(w.board, w.archive), periods.NewBoards(w.board, w.archive, s.clock)
		s.deps.Hiding = hiding.New(w.archive, hydrator, w.board, w, slog.New(slog.DiscardHandler))
		writer := snapshot.NewWriter(live, w.archive, hydrator, snapshot.WriterOptions{Holder: "test", Interval: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler)})
		s.deps.Jobs = jobs.New(jobs.Options{
			Checkpoints: s.deps.Checkpoints, Settings: s.deps.Settings, Board: w.board, Dir: dir, Log: slog.New(slog.DiscardHandler), Now: s.clock,
		})
		closer := periods.NewCloser(live, w.archive, hydrator, periods.CloserOptions{
			Lease: writer.Lease, Interval: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { writer.Run(ctx) })
		running.Go(func() { closer.Run(ctx) })
		running.Go(func() { s.deps.Jobs.Run(ctx) })
		t.Cleanup(func() { cancel(); running.Wait() })
	})
	w.put(public, `{"name":"Gophers <i>& \"co\"","memberCount":5,"ownerId":"900000000000000001"}`)
	return w, dir
}

// dataManager returns a signed-in browser at the data page.
func (w *settingsWorld) dataManager() *browser {
	b := w.browser()
	b.get("/sign-in/provider?next="+dataAddress).want(200, "Upload and preview")
	return b
}

// upload sends an import, with fields as name and value by turns. The field file is a file.
func (b *browser) upload(fields ...string) page {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == "file" {
			part, _ := form.CreateFormFile("file", `..\<i>members.csv`)
			_, _ = io.WriteString(part, fields[i+1])
			continue
		}
		_ = form.WriteField(fields[i], fields[i+1])
	}
	_ = form.Close()
	return b.sendBody("POST", dataAddress+"/import", body.String(), "Content-Type", form.FormDataContentType(), "Origin", b.site.url)
}

// settled reloads the data page until no job is running.
func (b *browser) settled() (got page) {
	b.t.Helper()
	testenv.Wait(b.t, "the job ends", func() bool {
		got = b.get(dataAddress).want(200)
		return !strings.Contains(got.text, `http-equiv="refresh"`)
	})
	return got
}

// A server that does not know the job in the address says so, rather than that there is none.
func TestAJobOfAnotherServerIsNotLost(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	elsewhere := func() {
		t.Helper()
		got := b.get(dataAddress+"?job=ELSEWHERE").want(200, "Another server of this service may have it", dataAddress+"?job=ELSEWHERE")
		if strings.Contains(got.text, "Upload and preview") || strings.Contains(got.text, `name="job"`) {
			t.Error("the page offers an upload, though another server has the job")
		}
	}
	elsewhere()
	ready := b.upload("from", "auto", "mode", "higher", "file", "id,xp\n200000000000000001,5\n").want(200)
	if !strings.Contains(ready.path, "?job=") {
		t.Errorf("an upload leads to %s, want a job in the address", ready.path)
	}
	b.settled().job()
	elsewhere()
}

var jobField = regexp.MustCompile(`name="job" value="(\w+)"`)

func (p page) job() string {
	p.t.Helper()
	found := jobField.FindStringSubmatch(p.text)
	if found == nil {
		p.t.Fatalf("the page shows no job: %s", p.text)
	}
	return found[1]
}

const oneMember = "id,xp\n500000000000000001,900\n"

func TestOnlyManagersSeeTheDataPage(t *testing.T) {
	w, _ := newDataWorld(t)
	for _, path := range []string{dataAddress, dataAddress + "/export?format=csv"} {
		w.browser().get(path).want(401, "/sign-in?next=")
	}
	b := w.dataManager()
	for _, path := range []string{"/guilds/" + string(closed) + "/data", "/guilds/" + string(closed) + "/data/export?format=csv"} {
		b.get(path).want(403)
	}
	b.get("/guilds/200000000000000009/data").want(404)
	b.get("/guilds/x/data").want(404)
	for _, bad := range []string{"", "?format=xml", "?format=CSV"} {
		b.get(dataAddress + "/export" + bad).want(404)
	}
	b.get(dataAddress+"/export?format=json").want(200, `{"levels":[`)
	b.post("/guilds/"+string(closed)+"/data", url.Values{"do": {"checkpoint"}, "name": {"x"}}).want(403)
	b.post(dataAddress, url.Values{"do": {"checkpoint"}, "name": {"x"}}, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").want(403)
	b.get(dataAddress).want(200, "No checkpoints yet")
}

func TestAnUploadIsPreviewedAndDiscarded(t *testing.T) {
	w, dir := newDataWorld(t)
	b := w.dataManager()
	b.upload("from", "auto", "mode", "set", "file", oneMember).want(200)
	preview := b.settled().want(200, "Preview of the import", "<bdi>&lt;i&gt;members.csv</bdi>: a table", "Import 1 member", "Member 0001")
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("the uploads of a killed service were left: %v", left)
	}
	// Another upload, by any manager, does not replace it.
	b.upload("from", "csv", "mode", "set", "file", oneMember).want(409, "An import of Ada L. waits to be confirmed.", `href="`+dataAddress+`">Back to the data page`)
	b.get(dataAddress).want(200, "Uploaded by <bdi>Ada L.</bdi> <time", "Update the preview").lacks("Upload and preview")
	b.post(dataAddress, url.Values{"do": {"dismiss"}, "job": {preview.job()}}).want(200, "Upload and preview")
	b.upload("from", "csv", "mode", "add", "settings", "on", "minLevel", "9", "file", oneMember, "file", "id;xp\n500000000000000002;999999\n").want(200)
	second := b.settled().want(200, "Import 1 member", "Below the minimum level", "Add again")
	b.post(dataAddress, url.Values{"do": {"confirm"}, "job": {preview.job()}}).want(409, "was imported or discarded", "Back to the data page")
	w.pass(61 * time.Minute)
	b.post(dataAddress, url.Values{"do": {"confirm"}, "job": {second.job()}}).want(409, "older than an hour")
	b.settled().lacks("Preview of the import")
	b.upload("from", "csv", "mode", "set", "minLevel", "9", "file", oneMember).want(200)
	none := b.settled().want(200, "Import failed", "There is nothing to import: all members of the files are below level 9.").lacks("Import 0 members")
	b.post(dataAddress, url.Values{"do": {"dismiss"}, "job": {none.job()}}).want(200)

	b.upload("from", "auto", "mode", "set", "file", "no table").want(200)
	failed := b.settled().want(200, "Import failed", "The file can&#39;t be imported.", "members")
	b.post(dataAddress, url.Values{"do": {"dismiss"}, "job": {failed.job()}}).want(200, "Upload and preview").lacks("Import failed")
}

// sampleFile returns another bot's file.
func sampleFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../usecase/importer/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The preview offers a choice for everything that the file lacks, without another upload.
func TestThePreviewOffersWhatAFileNeeds(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	choose := func(from page, do string, fields ...string) page {
		t.Helper()
		sent := url.Values{"do": {do}, "job": {from.job()}, "mode": {"higher"}}
		for i := 0; i < len(fields); i += 2 {
			sent.Set(fields[i], fields[i+1])
		}
		b.post(dataAddress, sent).want(200)
		return b.settled()
	}
	dismiss := func(p page) {
		t.Helper()
		b.post(dataAddress, url.Values{"do": {"dismiss"}, "job": {p.job()}}).want(200, "Upload and preview")
	}
	b.upload("from", "auto", "mode", "higher", "file", sampleFile(t, "levelup-cog.json")).want(200)
	other := b.settled().want(200, "Import failed", "name one of its guilds as the source", `<option value="1092837465019283747">`).lacks("--source-guild")
	taken := choose(other, "choose", "from", "auto", "sourceGuild", "1092837465019283747").want(200, "Import 4 members", `value="1092837465019283747"`)
	b.post(dataAddress, url.Values{"do": {"choose"}, "job": {taken.job()}, "mode": {"higher"}, "from": {"auto"}, "sourceGuild": {"5"}}).want(422, `id="sourceGuild-error"`)
	dismiss(taken)
	b.post(dataAddress, url.Values{"do": {"choose"}, "job": {taken.job()}, "mode": {"higher"}, "from": {"auto"}}).want(409, "was imported or discarded")

	b.upload("from", "auto", "mode", "higher", "file", sampleFile(t, "arcane-scrape.json")).want(200)
	arcane := b.settled().want(200, "name Arcane as the source").lacks("--from")
	dismiss(choose(arcane, "choose", "from", "arcane").want(200, "74,360", "Also take from the files the curve").lacks("name Arcane"))

	// A file with settings only is offered for them, and a button with other choices imports nothing.
	b.upload("from", "auto", "mode", "higher", "file", sampleFile(t, "amari-rewards.json")).want(200)
	rewards := b.settled().want(200, "Import failed", "There is nothing to import", "Also take from the files the role rewards")
	ready := choose(rewards, "choose", "from", "auto", "settings", "on").want(200, "Take the settings", `name="settings" value="on" checked`).lacks("Import 0 members")
	unticked := choose(ready, "confirm", "from", "auto").want(200, "There is nothing to import")
	ready = choose(unticked, "choose", "from", "auto", "settings", "on")
	choose(ready, "confirm", "from", "auto", "settings", "on").want(200, "Import finished", "Settings that were taken from the files stay.")
	if saved := w.saved(); !strings.Contains(saved, `"roleRewards":[{`) {
		t.Errorf("the settings are %s, want role rewards of the file", saved)
	}
}

func TestAnUploadsErrorIsAtItsField(t *testing.T) {
	w, dir := newDataWorld(t)
	b := w.dataManager()
	many := []string{"from", "auto", "mode", "set"}
	for range jobs.MaxFiles + 1 {
		many = append(many, "file", oneMember)
	}
	for what, test := range map[string]struct {
		fields []string
		id     string
	}{
		"no file":            {[]string{"from", "auto", "mode", "set"}, "file-error"},
		"too large":          {[]string{"mode", "set", "file", oneMember + strings.Repeat(" ", jobs.MaxUpload)}, "file-error"},
		"too many files":     {many, "file-error"},
		"no such source":     {[]string{"from", "mee7", "mode", "set", "file", oneMember}, "from-error"},
		"no such mode":       {[]string{"from", "auto", "mode", "lower", "file", oneMember}, "mode-error"},
		"level too high":     {[]string{"from", "auto", "mode", "set", "minLevel", "10001", "file", oneMember}, "minLevel-error"},
		"level not a number": {[]string{"from", "auto", "mode", "set", "minLevel", "1e3", "file", oneMember}, "minLevel-error"},
	} {
		b.upload(test.fields...).want(422, `id="`+test.id+`"`, "Nothing was changed").lacks("Preview")
		if job := b.get(dataAddress).want(200); strings.Contains(job.text, `name="job"`) {
			t.Errorf("%s: the refused upload left a job", what)
		}
	}
	b.sendBody("POST", dataAddress+"/import", "file=x", "Content-Type", "application/x-www-form-urlencoded", "Origin", b.site.url).want(400)
	b.sendBody("POST", dataAddress+"/import", "--x\r\nContent-Disposition: form-data; name=\"mode\"\r\n\r\nse", "Content-Type", "multipart/form-data; boundary=x", "Origin", b.site.url).want(422, "arrived incomplete")
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("refused uploads left the files %v", left)
	}
}

func TestCheckpointsAndResetOnTheDataPage(t *testing.T) {
	w, _ := newDataWorld(t)
	b := w.dataManager()
	for _, name := range []string{"", "  ", strings.Repeat("é", 101), "a\x00b"} {
		b.post(dataAddress, url.Values{"do": {"checkpoint"}, "name": {name}}).want(422, `id="name-error"`)
	}
	b.post(dataAddress, url.Values{"do": {"checkpoint"}, "name": {"<b>before</b>"}}).want(200)
	kept := b.settled().want(200, "Checkpoint finished", "<bdi>&lt;b&gt;before&lt;/b&gt;</bdi>")
	made := regexp.MustCompile(`name="checkpoint" value="(\w+)"`).FindStringSubmatch(kept.text)
	for _, unknown := range []string{"", "x", "99999"} {
		b.post(dataAddress, url.Values{"do": {"restore"}, "checkpoint": {unknown}}).want(409, "does not exist anymore")
		b.post(dataAddress, url.Values{"do": {"delete"}, "checkpoint": {unknown}}).want(409, "does not exist anymore")
	}
	for field, form := range map[string]url.Values{"reason-" + made[1]: {"do": {"restore"}, "checkpoint": {made[1]}}, "reset-reason": {"do": {"reset"}, "guild": {`Gophers <i>& "co"`}}} {
		form.Set("reason", strings.Repeat("é", 513))
		b.post(dataAddress, form).want(422, `id="`+field+`-error"`, "Nothing was changed")
	}
	b.post(dataAddress, url.Values{"do": {"restore"}, "checkpoint": {made[1]}, "reason": {"a <b>mistake</b>"}}).want(200)
	b.settled().want(200, "Restore finished", "Before a restore")
	for _, typed := range []string{"", "Gophers", `gophers <i>& "co"`} {
		b.post(dataAddress, url.Values{"do": {"reset"}, "guild": {typed}}).want(422, `id="guild-error"`)
	}
	b.post(dataAddress, url.Values{"do": {"reset"}, "guild": {` Gophers <i>& "co" `}}).want(200)
	b.settled().want(200, "Reset finished", "Before a reset")
	b.get(auditAddress).want(200, "“<bdi>a &lt;b&gt;mistake&lt;/b&gt;</bdi>”")
	b.post(dataAddress, url.Values{"do": {"delete"}, "checkpoint": {made[1]}}).want(200, "Checkpoint deleted.").lacks("before&lt;/b&gt;")
}
