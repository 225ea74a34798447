package bot_test

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/bot"
	"levelboard/internal/testing/docs"
	"levelboard/internal/testing/testenv"
)

var update = flag.Bool("update", false, "write the table of settings into docs/bot.md")

const (
	tableBegin = "<!-- settings: written by go test ./internal/bot -update -->\n"
	tableEnd   = "<!-- end of settings -->\n"
)

func TestThePageHasTheSettings(t *testing.T) {
	table := "| setting (a secret also as `NAME_FILE`) | default | what it does |\n|---|---|---|\n"
	for _, f := range reflect.VisibleFields(reflect.TypeFor[bot.Settings]()) {
		name, value := f.Tag.Get("env"), f.Tag.Get("envDefault")
		if name == "" {
			continue
		}
		if value != "" {
			value = "`" + value + "` "
		}
		table += fmt.Sprintf("| `%s` | %s| %s |\n", name, value, f.Tag.Get("desc"))
	}
	docs.Table(t, "../../docs/bot.md", tableBegin, table, tableEnd, "go test ./internal/bot -update", *update)
}

// TestThePageHasTheBotsSentences: each sentence that the page explains is one that the bot says.
func TestThePageHasTheBotsSentences(t *testing.T) {
	page, err := os.ReadFile("../../docs/bot.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## When something is wrong\n")
	sentences := regexp.MustCompile("(?m)^\\| `([^/`]+)` \\|").FindAllStringSubmatch(section, -1)
	for _, found := range sentences {
		for part := range strings.SplitSeq(found[1], "...") {
			if !strings.Contains(code.String(), part) {
				t.Errorf("docs/bot.md explains %q, which the bot does not say", found[1])
			}
		}
	}
	if len(sentences) < 10 {
		t.Errorf("docs/bot.md explains %d sentences", len(sentences))
	}
}

func TestMetricsAreAsDocumented(t *testing.T) {
	w := newWorld(t, gophers())
	address := testenv.FreeAddr(t)
	w.start("LEVELBOARD_OPS_LISTEN=" + address)
	w.chat.WaitForCommands(t)
	defer http.DefaultClient.CloseIdleConnections()
	get := func(path string) string {
		answer, err := http.Get("http://" + address + path)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return string(text)
	}
	w.waitFor("the bot's health", "ok\n", func() string { return get("/readyz") })
	names := func(text, pattern string) []string {
		var list []string
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			list = append(list, found[1])
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	got, want := names(get("/metrics"), `(?m)^# TYPE (levelboard_bot_\w+) `), names(string(page), "(?m)^\\| `(levelboard_bot_\\w+)` ")
	if !slices.Equal(got, want) {
		t.Errorf("/metrics has %v, docs/metrics.md %v", got, want)
	}
	w.front.set(func() { w.front.away = true })
	if got := get("/readyz"); !strings.HasPrefix(got, "not ready: Levelboard: ") {
		t.Errorf("without Levelboard /readyz says %q", got)
	}
}
