package docs_test

import (
	"os"
	"strings"
	"testing"
)

// TestExcerptsAreOfTheBot: a page shows lines of the bot that clients-check runs, as they are.
func TestExcerptsAreOfTheBot(t *testing.T) {
	page, err := os.ReadFile("../../../docs/periods.md")
	if err != nil {
		t.Fatal(err)
	}
	bot, err := os.ReadFile("../../../docs/examples/discord.js/bot.js")
	if err != nil {
		t.Fatal(err)
	}
	excerpts := strings.Split(string(page), "\n```js\n")[1:]
	if len(excerpts) != 2 {
		t.Errorf("the page has %d excerpts, want 2", len(excerpts))
	}
	for _, excerpt := range excerpts {
		lines, _, _ := strings.Cut(excerpt, "```")
		if !strings.Contains(string(bot), "\n"+lines) {
			t.Errorf("the bot does not have\n%s", lines)
		}
	}
}
