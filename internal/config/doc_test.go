package config_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"levelboard/internal/config"
)

var update = flag.Bool("update", false, "rewrite the table of docs/configuration.md")

const (
	tableBegin = "<!-- settings: written by go test ./internal/config -update -->\n"
	tableEnd   = "<!-- end of settings -->\n"
)

func table() string {
	var b strings.Builder
	b.WriteString("| name | default | |\n|---|---|---|\n")
	for _, s := range config.Describe() {
		def := "none"
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		description := s.Description
		if s.Secret {
			description += " Secret: also as `" + s.Name + "_FILE`."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, def, strings.ReplaceAll(description, "|", "\\|"))
	}
	return b.String()
}

func TestDocumentationListsTheSettings(t *testing.T) {
	const path = "../../docs/configuration.md"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(content), tableBegin)
	documented, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no marks around its table", path)
	}
	if documented == table() {
		return
	}
	if !*update {
		t.Fatalf("%s is not up to date: go test ./internal/config -update", path)
	}
	if err := os.WriteFile(path, []byte(before+tableBegin+table()+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEverySettingIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range config.Describe() {
		if s.Description == "" || !strings.HasPrefix(s.Name, config.Prefix) || seen[s.Name] {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
}
