package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// asks gives --yes to a command that asks for confirmation, and returns the command.
func (c *client) asks(cmd *cobra.Command) *cobra.Command {
	cmd.Long = cmd.Short + ". At a terminal you are asked first; elsewhere it needs --yes."
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	return cmd
}

var errNobodyToAsk = usage("this is no terminal to ask at: use --yes to continue without asking")

// mayAsk returns an error if there is no terminal to ask at and --yes is missing.
func (c *client) mayAsk() error {
	if c.yes || terminal(c.Stdin) && c.askingPlace() != nil {
		return nil
	}
	return errNobodyToAsk
}

// ask asks for confirmation: the person at the terminal must type word, unless --yes was given. %s in the question is the guild's name.
func (c *client) ask(ctx context.Context, question, guild, word string) error {
	if err := c.mayAsk(); err != nil || c.yes {
		return err
	}
	if guild != "" {
		_, answer, err := c.call(ctx, request{method: http.MethodGet, path: guildPath(guild)})
		if err != nil {
			return err
		}
		g, err := read[guildDocument](answer)
		if err != nil {
			return err
		}
		question = fmt.Sprintf(question, printable(g.Name))
	}
	fmt.Fprintf(c.askingPlace(), "%s Write %s to continue: ", question, word)
	line, err := bufio.NewReader(c.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the answer cannot be read, so nothing was done: %w", err)
	}
	if err != nil {
		fmt.Fprintln(c.askingPlace()) // after the end of input, the cursor is still behind the question
	}
	if strings.TrimSpace(line) != word {
		return errors.New("that is another answer, so nothing was done")
	}
	return nil
}

// askingPlace returns where to print a question: standard error, so that standard
// output can be piped, else standard output. It returns nil if neither is a terminal.
func (p *program) askingPlace() io.Writer {
	for _, w := range []io.Writer{p.Stderr, p.Stdout} {
		if terminal(w) {
			return w
		}
	}
	return nil
}

func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
