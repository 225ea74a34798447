// Levelboard-bench puts load on a running Levelboard and measures how it answers. `levelboard-bench --help` has its scenarios and flags.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/config"
)

const exitOK, exitFailed, exitUsage = 0, 1, 2

// environment is what the program may touch of its process.
type environment struct {
	stdout, stderr io.Writer
	environ        []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], environment{os.Stdout, os.Stderr, os.Environ()}))
}

// run returns the exit code: 0, 1 if the load failed or must not be trusted, 2 if the program was called wrongly.
func run(ctx context.Context, args []string, env environment) int {
	var f flags
	started := false
	command := &cobra.Command{
		Use:   "levelboard-bench",
		Short: "Put load on a running Levelboard and measure how it answers",
		Long: "Put load on a running Levelboard and measure how it answers. Guilds of its own, their members and keys are made for it and\n" +
			"removed at the end. The service's limit for each identity applies to the load: start the service with\n" +
			"LEVELBOARD_RATE_LIMIT_IDENTITY=0 to measure it and not the limit.\n\nScenarios:\n" + scenarioList(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, _ []string) error {
			o, err := f.options(command.Flags().Changed, env.environ)
			if err != nil {
				return err
			}
			started = true
			return bench(command.Context(), o, f.json, env)
		},
	}
	f.register(command.Flags())
	command.SetArgs(args)
	command.SetOut(env.stdout)
	command.SetErr(env.stderr)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(env.stderr, "levelboard-bench: %s\n", strings.TrimRight(line, "\n"))
	}
	if started || errors.Is(err, config.ErrNoAdminToken) {
		return exitFailed
	}
	fmt.Fprintln(env.stderr, "Run 'levelboard-bench --help' for how to use it.")
	return exitUsage
}

func scenarioList() string {
	var b strings.Builder
	for _, s := range loadgen.Scenarios() {
		fmt.Fprintf(&b, "  %-19s%s\n", s.Name, s.Summary)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func bench(ctx context.Context, o loadgen.Options, asJSON bool, env environment) error {
	o.Progress = func(line string) { fmt.Fprintf(env.stderr, "%s %s\n", time.Now().Format(time.TimeOnly), line) }
	result, err := loadgen.Run(ctx, o)
	if result == nil {
		return err
	}
	if !asJSON {
		return errors.Join(result.WriteTable(env.stdout), err)
	}
	out := json.NewEncoder(env.stdout)
	out.SetIndent("", "  ")
	return errors.Join(out.Encode(result), err)
}
