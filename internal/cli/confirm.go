package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// canAsk reports whether a person at a terminal can see and answer a question.
func (p *program) canAsk() bool { return terminal(p.Stdin) && p.askingPlace() != nil }

const aboutAsking = "At a terminal you are asked first; elsewhere it needs --yes."

// yesFlag registers --yes of a command that asks.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "do not ask")
}

var errNobodyToAsk = usage("this is no terminal to ask at: use --yes to continue without asking")

// ask lets the person at the terminal confirm the question by typing a word. Without a terminal, a missing --yes is an error.
func (p *program) ask(yes bool, question func() (text, word string, err error)) error {
	if yes {
		return nil
	}
	if !p.canAsk() {
		return errNobodyToAsk
	}
	text, word, err := question()
	if err != nil {
		return err
	}
	return p.confirm(text+" Write "+word+" to continue: ", word)
}

// confirm asks the person to type the word, and returns an error if they do not.
func (p *program) confirm(question, word string) error {
	fmt.Fprint(p.askingPlace(), question)
	line, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the answer cannot be read, so nothing was done: %w", err)
	}
	if err != nil {
		fmt.Fprintln(p.askingPlace()) // the end of input left the cursor behind the question
	}
	if strings.TrimSpace(line) != word {
		return errors.New("that is another answer, so nothing was done")
	}
	return nil
}

// askingPlace is where a question is seen: standard error, beside which the answer of a command can be piped on, else
// standard output; nil when neither is a terminal.
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
