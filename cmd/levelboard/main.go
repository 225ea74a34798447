// Levelboard is a self-hosted leveling service. `levelboard help` lists its commands.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // the image is built from scratch and has no zoneinfo: guilds name their time zones

	"levelboard/internal/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Environment{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	}))
}
