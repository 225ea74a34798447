// Package cli is the command line: a file for each subcommand. Commands that change a running service are clients of its API; serve and
// demo run the service itself, which package app wires.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Environment is the part of the process that a command may use.
type Environment struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string // NAME=value, as os.Environ gives them
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
	// started says that a command began its work: an error before that is about how it was called.
	started bool
	// log, when the settings ask for a JSON log, takes the messages for standard error: readers of JSON would lose other lines.
	log *slog.Logger
}

// usageError says that the command was called wrongly, although its flags and arguments could be read.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs the command that args (without the program's name) name, and returns its exit code: 0, 1 when it failed, 2 when
// it was called wrongly. Errors are plain sentences on standard error. It handles SIGINT and SIGTERM while it serves.
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
	var wrong usageError
	if p.started && !errors.As(err, &wrong) {
		return exitFailed
	}
	fmt.Fprintf(p.Stderr, "Run '%s --help' for how to use it.\n", command.CommandPath())
	return exitUsage
}

func (p *program) root() *cobra.Command {
	root := p.group("levelboard", "A self-hosted leveling service for chat communities")
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(p.serveCommand(), p.demoCommand(), p.guildCommand(), p.keyCommand(), p.importCommand(), p.exportCommand(),
		p.checkpointCommand(), p.resetCommand(), p.auditCommand(), p.userCommand(), p.migrateCommand(), p.configCommand(), p.healthcheckCommand(), p.versionCommand())
	return root
}

// group is a command that only holds others.
func (p *program) group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.ArbitraryArgs,

		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("a command is missing: " + strings.Join(subcommands(cmd), ", "))
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%q is not a command; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return fmt.Errorf("%q is not a command; the commands are %s", args[0], strings.Join(subcommands(cmd), ", "))
		},
	}
}

func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// action is the work of a command without further subcommands.
func (p *program) action(work func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.started = true
		return work(cmd.Context(), args)
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

// printf writes to standard output.
func (p *program) printf(format string, args ...any) {
	fmt.Fprintf(p.Stdout, format, args...)
}

// takes checks that a command gets exactly these arguments, and all of its required flags. Cobra's own checks name neither the argument nor the
// whole line.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			return fmt.Errorf("%q is one argument too many: %s", args[len(names)], usageLine(cmd))
		case len(args) < len(names):
			return isMissing(cmd, names[len(args):])
		}
		if missing := missingFlags(cmd); len(missing) > 0 {
			return isMissing(cmd, missing)
		}
		return nil
	}
}

func isMissing(cmd *cobra.Command, what []string) error {
	verb := "is"
	if len(what) > 1 {
		verb = "are"
	}
	return errors.New(inWords(what) + " " + verb + " missing: " + usageLine(cmd))
}

// missingFlags are the required flags that were not given, by name.
func missingFlags(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, required := f.Annotations[cobra.BashCompOneRequiredFlag]; required && !f.Changed {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// usageLine is how the command is called, as the head of its help has it.
func usageLine(cmd *cobra.Command) string {
	return cmd.Parent().CommandPath() + " " + cmd.Use
}

// inWords is "a", "a and b", "a, b and c".
func inWords(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
