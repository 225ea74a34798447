package config_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/config"
	"levelboard/internal/testing/docs"
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
	docs.Table(t, "../../docs/configuration.md", tableBegin, table(), tableEnd, "go test ./internal/config -update", *update)
}

func TestEverySettingIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range config.Describe() {
		if s.Description == "" || !strings.HasPrefix(s.Name, config.Prefix) || seen[s.Name] {
			t.Errorf("the setting %+v has no description, another prefix, or a name used twice", s)
		}
		seen[s.Name] = true
	}
}
