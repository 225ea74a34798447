package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (p *program) exportCommand() *cobra.Command {
	c := &client{program: p}
	var format, out string
	export := p.forGuild("export --format json|csv", "Write all members of a guild", func(ctx context.Context, guild string, _ []string) error {
		if format != "json" && format != "csv" {
			return usage("--format must be json or csv")
		}
		return c.export(ctx, guildPath(guild)+"/export?format="+format, out)
	})
	export.Long = "Write all members of a guild, including those not present, to standard output or to a file. 'levelboard import' reads it back."
	export.Flags().StringVar(&format, "format", "json", "json or csv")
	export.Flags().StringVar(&out, "out", "", "`file` to write (default standard output)")
	return c.flags(export)
}

// export writes the answer to out as it arrives. A file gets its name when it is complete.
func (c *client) export(ctx context.Context, path, out string) error {
	response, err := c.open(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	copied := func(to io.Writer) error {
		if _, err := io.Copy(to, response.Body); err != nil {
			return fmt.Errorf("the export was cut off, and the output is incomplete: %w", err)
		}
		return nil
	}
	if out == "" || out == "-" {
		return copied(c.Stdout)
	}
	return writeBeside(out, copied)
}

// writeBeside lets write fill a temporary file, and then renames it to name. After an error the file called name is unchanged.
func writeBeside(name string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("the export cannot be written: %s is not a regular file", name) // such as a device, which the rename would replace
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	return nil
}
