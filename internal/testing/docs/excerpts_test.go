package docs_test

import (
	"os"
	"strings"
	"testing"
)

// TestExcerptsAreOfTheBot checks that the lines of the example bot on a page are those of the bot that clients-check runs.
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
		t.Errorf("the page has %d excerpts of the bot, want 2", len(excerpts))
	}
	for _, excerpt := range excerpts {
		lines, _, _ := strings.Cut(excerpt, "```")
		if !strings.Contains(string(bot), "\n"+lines) {
			t.Errorf("the bot lacks the page's lines\n%s", lines)
		}
	}
}
