package torture

import (
	"context"
	"io"
	"os"
	"testing"

	"levelboard/internal/cli"
	"levelboard/internal/testing/testenv"
)

// asReplica makes the test binary run as the program, so that replicas are processes that can be killed.
const asReplica = "TORTURE_REPLICA"

func TestMain(m *testing.M) {
	if os.Getenv(asReplica) == "" {
		testenv.Main(m)
	}
	// The test binary holds the other end of standard input, which closes when the binary ends, however it ends.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Environment{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	}))
}
