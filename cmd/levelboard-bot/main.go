// Levelboard-bot connects Discord guilds to a Levelboard; docs/bot.md says how.
package main

import (
	"os"

	"levelboard/internal/bot"
	"levelboard/internal/platform/version"
)

func main() {
	name, _ := version.Build()
	os.Exit(bot.Main(os.Args[1:], os.Environ(), name, os.Stderr))
}
