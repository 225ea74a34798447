package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// takes is the check of a command that wants these arguments, no more and no less, and all of its required flags. Cobra's own
// checks say neither what an argument is nor what the whole line looks like.
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
