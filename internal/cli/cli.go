// Package cli is the command line; each subcommand has a file. Commands that change a running
// service are clients of its API. serve and demo run the service itself, which package app wires.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// Environment is what a command may use of the process.
type Environment struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string // NAME=value, as from os.Environ
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// program is one run of the command line.
type program struct {
	Environment
	// started says that the command has begun its work. An error before that is about how it was called.
	started bool
	// log writes the messages for standard error if the settings ask for a JSON log. Other lines would break a reader of JSON.
	log *slog.Logger
}

// usageError says that the command was called wrongly, although its flags and arguments could be parsed.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs the command in args (without the program's name) and returns its exit code: 0, 1 when it failed, 2 when it
// was called wrongly. Errors are plain sentences on standard error. While it serves, it handles SIGINT and SIGTERM.
func Run(ctx context.Context, args []string, env Environment) int {
	p := &program{Environment: env}
	root := p.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.Lines(err.Error()) {
		p.say(slog.LevelError, strings.TrimRight(line, "\n"))
	}
	if p.started && !errors.As(err, new(usageError)) {
		return exitFailed
	}
	use := command.UseLine()
	if command.HasSubCommands() {
		use = command.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(p.Stderr, "Usage: %s\nRun '%s --help' for how to use it.\n", use, command.CommandPath())
	return exitUsage
}

func (p *program) root() *cobra.Command {
	root := p.group("levelboard", "A self-hosted leveling service for chat communities",
		p.serveCommand(), p.demoCommand(), p.guildCommand(), p.keyCommand(), p.importCommand(), p.exportCommand(), p.checkpointCommand(),
		p.resetCommand(), p.auditCommand(), p.userCommand(), p.migrateCommand(), p.configCommand(), p.healthcheckCommand(), p.versionCommand())
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

// group is a command that only has subcommands.
func (p *program) group(name, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("a command is missing")
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%q is not a command; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return fmt.Errorf("%q is not a command", args[0])
		},
	}
	group.AddCommand(commands...)
	return group
}

// command makes a command without subcommands. use names it, then its arguments, then its flags.
func (p *program) command(use, short string, work func(ctx context.Context, args []string) error) *cobra.Command {
	var arguments []string
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(word, "-") {
			break
		}
		arguments = append(arguments, word)
	}
	return &cobra.Command{
		Use: use, Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < len(arguments) {
				return fmt.Errorf("%s is missing", arguments[len(args)])
			}
			if len(args) > len(arguments) {
				return fmt.Errorf("%q is one argument too many", args[len(arguments)])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p.started = true
			return work(cmd.Context(), args)
		},
	}
}

// say writes a line to standard error.
func (p *program) say(level slog.Level, line string) {
	if p.log != nil {
		p.log.Log(context.Background(), level, line)
		return
	}
	if level == slog.LevelWarn {
		line = "warning: " + line
	}
	fmt.Fprintf(p.Stderr, "levelboard: %s\n", line)
}
