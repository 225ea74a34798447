package torture

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// notBeside is a line in a migration that a version without it cannot live with.
const notBeside = "-- Not beside older versions"

// apart says why the version before and this one must not serve at the same time; nothing when they may.
func (h *harness) apart(before string) string {
	older, newer := h.format(h.live), h.formatOfThis()
	if older != newer {
		return fmt.Sprintf("a guild's format in Redis was %q and is %q (the field format of lb:{g}:meta)", older, newer)
	}
	for _, version := range h.migrationsOf("") {
		if slices.Contains(h.migrationsOf(before), version) {
			continue
		}
		if file := migrationFile(h, version); strings.Contains(file, notBeside) {
			return fmt.Sprintf("migration %s says %q", version, notBeside)
		}
	}
	return ""
}

// format is in which format the main guild is in a Redis; empty for the first one, which had no name.
func (h *harness) format(live redis.UniversalClient) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found, err := live.HMGet(ctx, "lb:{"+mainGuild+"}:meta", "epoch", "format").Result()
	if err != nil || found[0] == nil {
		h.t.Fatalf("read the format of a guild: %v %v", found, err)
	}
	format, _ := found[1].(string)
	return format
}

// formatOfThis is the format in which this version loads a guild, in a database of its own of the same servers.
func (h *harness) formatOfThis() string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, h.postgres.URL())
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE DATABASE probe"); err != nil {
		h.t.Fatal(err)
	}
	probe := &replica{name: "probe", env: append(h.environment(),
		"LEVELBOARD_REDIS_URL="+elsewhere(h, h.redis.URL(), "1"), "LEVELBOARD_POSTGRES_URL="+elsewhere(h, h.postgres.URL(), "probe"))}
	defer probe.discard()
	if err := probe.start(); err != nil {
		h.t.Fatal(err)
	}
	h.await("this version serves", func() bool { return probe.url.Load() != nil })
	if h.isBroken() {
		h.t.Fatal(probe.logTail())
	}
	if a := h.call(probe, http.MethodPut, "/admin/guilds/"+mainGuild, "", h.guildDocument("Probe", false)); a.verdict != done {
		h.t.Fatalf("make a guild: %s", a.text)
	}
	resp, err := http.Get(*probe.url.Load() + "/v2/levels/" + mainGuild + "?page=1")
	if err != nil || resp.StatusCode != http.StatusOK {
		h.t.Fatalf("load a guild: %v %v", resp, err)
	}
	_ = resp.Body.Close()
	_ = probe.signal(syscall.SIGKILL)
	live := redis.NewClient(&redis.Options{Addr: h.redis.Addr(), DB: 1, MaxRetries: -1, Protocol: 2, DisableIdentity: true})
	defer live.Close()
	return h.format(live)
}

// elsewhere is a server's URL with another database.
func elsewhere(h *harness, raw, database string) string {
	u, err := url.Parse(raw)
	if err != nil {
		h.t.Fatal("a server's URL cannot be read")
	}
	u.Path = "/" + database
	return u.String()
}

// migrationsOf lists the versions of the migrations that a program has; an empty one is this version's.
func (h *harness) migrationsOf(program string) []string {
	if program == "" {
		program = os.Args[0]
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, "migrate", "status")
	command.Env = h.environment()
	if _, err := command.StdinPipe(); err != nil { // the test binary ends with its input
		h.t.Fatal(err)
	}
	list, err := command.Output()
	if err != nil {
		h.t.Fatalf("levelboard migrate status: %v", err)
	}
	var versions []string
	for line := range strings.Lines(string(list)) {
		if words := strings.Fields(line); len(words) > 0 && strings.Trim(words[0], "0123456789") == "" {
			versions = append(versions, words[0])
		}
	}
	if len(versions) == 0 {
		h.t.Fatalf("levelboard migrate status lists no migrations:\n%s", list)
	}
	return versions
}

// migrationFile is the text of one of this version's migrations.
func migrationFile(h *harness, version string) string {
	files, err := filepath.Glob(filepath.Join("..", "..", "store", "postgres", "migrations", fmt.Sprintf("%05d_*.sql", number(version))))
	if err != nil || len(files) != 1 {
		h.t.Fatalf("the file of migration %s: %v %v", version, files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}
