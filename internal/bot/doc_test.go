package bot_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/bot"
	"levelboard/internal/testing/testenv"
)

func TestThePageHasTheSettings(t *testing.T) {
	page, err := os.ReadFile("../../docs/bot.md")
	if err != nil {
		t.Fatal(err)
	}
	settings := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[bot.Settings]()) {
		name, value := f.Tag.Get("env"), f.Tag.Get("envDefault")
		if name == "" {
			continue
		}
		settings++
		if value != "" {
			value = "`" + value + "` "
		}
		if row := fmt.Sprintf("| `%s` | %s| %s |\n", name, value, f.Tag.Get("desc")); !strings.Contains(string(page), row) {
			t.Errorf("docs/bot.md lacks the row\n%s", row)
		}
	}
	if rows := strings.Count(string(page), "\n| `LEVELBOARD_") + strings.Count(string(page), "\n| `DISCORD_TOKEN` |"); rows < settings {
		t.Errorf("docs/bot.md has %d rows for %d settings", rows, settings)
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
