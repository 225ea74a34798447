// Levelboard-bot connects Discord guilds to a Levelboard; docs/bot.md says how.
package main

import (
	"os"

	"levelboard/internal/bot"
)

func main() {
	os.Exit(bot.Main(os.Args[1:], os.Environ(), bot.Version(), os.Stderr))
}
