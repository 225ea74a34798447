// Levelboard is a self-hosted leveling service. `levelboard help` lists its commands.
package main

import (
	"context"
	"os"

	"levelboard/internal/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Environment{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	}))
}
