package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"

	"levelboard/internal/app"
	"levelboard/internal/config"
	"levelboard/internal/platform/logs"
	"levelboard/internal/platform/version"
	"levelboard/internal/usecase/signin"
)

func (p *program) serveCommand() *cobra.Command {
	serve := p.command("serve", "Run the service, with the settings of the environment", p.withSettings(p.serve))
	serve.Long = "Run the service, with the settings of the environment. With neither LEVELBOARD_REDIS_URL nor\n" +
		"LEVELBOARD_POSTGRES_URL it is embedded: nothing else is needed, and its data is in one directory.\n" +
		"SIGINT and SIGTERM stop it gracefully, a second signal at once."
	return serve
}

func (p *program) serve(ctx context.Context, cfg config.Config) error {
	s := service{cfg: cfg, log: newLogger(p.Stderr, cfg)}
	return p.untilSignal(ctx, func(ctx context.Context) error {
		return s.run(ctx, func(ctx context.Context, a *app.App) error {
			announce(p.Stderr, cfg, a)
			return a.Wait(ctx)
		})
	})
}

// settings loads the settings and prints the warnings about them.
func (p *program) settings(environ []string) (config.Config, error) {
	cfg, warnings, err := config.Load(environ)
	if err == nil && cfg.LogFormat == config.JSON {
		p.log = newLogger(p.Stderr, cfg)
	}
	p.warn(warnings)
	return cfg, err
}

// withSettings makes the work of a command that needs the settings and takes no arguments.
func (p *program) withSettings(work func(ctx context.Context, cfg config.Config) error) func(context.Context, []string) error {
	return func(ctx context.Context, _ []string) error {
		cfg, err := p.settings(p.Environ)
		if err != nil {
			return err
		}
		return work(ctx, cfg)
	}
}

func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		p.say(slog.LevelWarn, w)
	}
}

// service is one run of the service in this process.
type service struct {
	cfg         config.Config
	log         *slog.Logger
	localSignIn []signin.Local // for the demo, which also sends no traces
}

// run starts the service, calls work while it runs, and stops it within the configured time. It is no error if ctx ends before the service is up.
func (s service) run(ctx context.Context, work func(context.Context, *app.App) error) error {
	limitMemory(memlimit.FromCgroup)
	name, _ := version.Build()
	a := app.New(s.cfg, app.Options{Logger: s.log, Version: name, Untraced: s.localSignIn != nil, LocalSignIn: s.localSignIn})
	if err := a.Start(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		return explainStart(err)
	}
	err := work(ctx, a)
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.ShutdownTimeout)
	defer cancel()
	return errors.Join(err, a.Stop(stopCtx))
}

func explainStart(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: stop the program that listens there, or set LEVELBOARD_LISTEN and LEVELBOARD_OPS_LISTEN", err)
	}
	return err
}

// announce writes the first lines: the addresses, and the stores.
func announce(w io.Writer, cfg config.Config, a *app.App) {
	name, _ := version.Build()
	lines := []string{
		fmt.Sprintf("Levelboard %s listens on %s and serves %s/v2", name, a.Addr(), a.URL()),
		fmt.Sprintf("Metrics and health checks: http://%s/metrics, /livez, /readyz", a.OpsAddr()),
	}
	if cfg.Embedded() {
		dir, err := filepath.Abs(cfg.DataDir)
		if err != nil {
			dir = cfg.DataDir
		}
		lines = append(lines,
			"Embedded: Redis runs inside this process, the archive is SQLite in "+dir,
			adminLine(cfg, filepath.Join(dir, config.AdminTokenFile)),
			"Embedded is for one community of up to 20,000 members; for more set LEVELBOARD_REDIS_URL and LEVELBOARD_POSTGRES_URL")
	} else {
		lines = append(lines,
			"Live boards: "+config.RedactURL(cfg.RedisURL),
			"Archive: "+config.RedactURL(cfg.PostgresURL),
			adminLine(cfg, ""))
	}
	for _, line := range lines {
		if cfg.LogFormat == config.JSON {
			newLogger(w, cfg).Info(line)
		} else {
			fmt.Fprintln(w, line)
		}
	}
}

func adminLine(cfg config.Config, file string) string {
	switch {
	case cfg.AdminToken != "":
		return "Admin token: the one that is set"
	case file != "":
		return "Admin token: in the file " + file
	default:
		return "Admin: off, because LEVELBOARD_ADMIN_TOKEN is not set"
	}
}

// limitMemory sets Go's memory limit to 90% of the container's, unless GOMEMLIMIT is set. Without a container there is no limit.
func limitMemory(container memlimit.Provider) {
	_, _ = memlimit.Set(memlimit.WithProvider(container)) // after an error there is no limit
}

// newLogger returns the configured logger.
func newLogger(w io.Writer, cfg config.Config) *slog.Logger {
	return logs.New(w, cfg.LogLevel, cfg.LogFormat == config.JSON)
}
