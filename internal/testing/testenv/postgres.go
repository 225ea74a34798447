package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	postgresUser     = "levelboard"
	postgresPassword = "the-password-of-no-server-but-those-of-tests"

	// sharedDir names a directory that the test binaries of one run share, and that is removed afterwards.
	sharedDir = "TESTENV_SHARED_DIR"
)

// PG is a private postgres server. Kill sends SIGQUIT, because a SIGKILL would leave child processes that hold its memory.
type PG struct {
	server
	bin      string
	user     *account
	settings []string // override those of launchPostgres
	tls      *postgresTLS
}

// PostgresOption changes how a postgres server is configured.
type PostgresOption func(*PG)

// WithDurableCommits gives the server the default settings of durability and
// memory, without which a benchmark of writes means little.
func WithDurableCommits() PostgresOption {
	return func(i *PG) {
		i.settings = append(i.settings, "fsync=on", "full_page_writes=on", "wal_level=replica", "max_wal_senders=10", "shared_buffers=128MB")
	}
}

// PostgresServer starts a postgres server for the test and returns when it
// answers. It stops when the test ends.
func PostgresServer(tb testing.TB, options ...PostgresOption) *PG {
	tb.Helper()
	s, err := newPostgres(options...)
	if err != nil {
		tb.Fatalf("starting postgres: %v", err)
	}
	s.tb = tb
	tb.Cleanup(s.discard)
	return s
}

// URL returns the address of the server's database, empty at first, for its superuser.
func (s *PG) URL() string { return s.url("postgres") }

// Stop stops the server in an orderly way and ends its clients' connections (SIGINT).
func (s *PG) Stop() { s.tb.Helper(); s.end(syscall.SIGINT) }

// Postgres returns the URL of a new, empty database on a server that all tests of
// the binary share. The database is dropped when the test ends, with its open
// connections; [Main] stops the server.
func Postgres(tb testing.TB) string {
	tb.Helper()
	return fresh(tb, "template1")
}

// PostgresCopy is [Postgres] with a database that prepare has filled. prepare
// runs once for all tests of the binary, because a copy is faster, and must leave
// no connection open.
func PostgresCopy(tb testing.TB, prepare func(url string) error) string {
	tb.Helper()
	if err := shared.prepare(prepare); err != nil {
		tb.Fatalf("preparing a database: %v", err)
	}
	return fresh(tb, prepared)
}

// prepared is the name of the database that PostgresCopy copies.
const prepared = "prepared"

func fresh(tb testing.TB, template string) string {
	tb.Helper()
	pg, err := shared.get()
	if err != nil {
		tb.Fatalf("starting postgres: %v", err)
	}
	database := strings.ToLower("test_" + rand.Text())
	if err := shared.do("CREATE DATABASE " + database + " TEMPLATE " + template); err != nil {
		tb.Fatalf("creating a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := shared.do("DROP DATABASE " + database + " WITH (FORCE)"); err != nil {
			tb.Errorf("dropping the test's database: %v", err)
		}
	})
	return pg.url(database)
}

// shared is the test binary's common postgres server, started at first use.
var shared sharedPostgres

type sharedPostgres struct {
	mu    sync.Mutex
	pg    *PG
	err   error
	conn  *pgconn.PgConn // creates and drops databases
	ready bool           // prepared exists
}

func (s *sharedPostgres) prepare(fill func(url string) error) error {
	pg, err := s.get()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	if err := s.run("CREATE DATABASE " + prepared); err != nil {
		return err
	}
	s.ready = true
	return fill(pg.url(prepared))
}

func (s *sharedPostgres) do(statement string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run(statement)
}

func (s *sharedPostgres) run(statement string) error {
	_, err := s.conn.Exec(context.Background(), statement).ReadAll()
	return err
}

func (s *sharedPostgres) get() (*PG, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pg == nil && s.err == nil {
		s.pg, s.err = newPostgres()
		if s.err == nil {
			s.conn, s.err = pgconn.Connect(context.Background(), s.pg.URL())
		}
	}
	return s.pg, s.err
}

func (s *sharedPostgres) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.Close(context.Background())
	}
	if s.pg != nil {
		s.pg.discard()
	}
}

func newPostgres(options ...PostgresOption) (*PG, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	dir, user, err := postgresDir()
	if err != nil {
		return nil, err
	}
	s := &PG{server: server{name: "postgres", dir: dir, death: syscall.SIGQUIT, family: true}, bin: bin, user: user}
	s.server.launch, s.server.ready = s.launchPostgres, s.takesConnections
	for _, option := range options {
		option(s)
	}
	if err := s.initialise(); err != nil {
		s.discard()
		return nil, err
	}
	if err := s.openOnce(); err != nil {
		err = fmt.Errorf("%w\n%s", err, logTail(s.log()))
		s.discard()
		return nil, err
	}
	return s, nil
}

// initialise creates the server's files. Test binaries that share a directory (make test) copy those of the first server, which takes a tenth
// of initdb's time.
func (s *PG) initialise() error {
	shared := os.Getenv(sharedDir)
	if shared == "" {
		return s.initdb(s.data())
	}
	first := filepath.Join(shared, "postgres")
	if _, err := os.Stat(first); err != nil {
		if err := s.initdb(s.data()); err != nil {
			return err
		}
		if err := os.Rename(s.data(), first); err == nil || !errors.Is(err, fs.ErrExist) {
			return errors.Join(err, s.copyOf(first))
		}
		return nil // another binary was faster; this server keeps its own files
	}
	return s.copyOf(first)
}

func (s *PG) copyOf(data string) error { return s.run("/bin/cp", "-Rp", data, s.data()) }

func (s *PG) initdb(data string) error {
	secret := filepath.Join(s.dir, "password")
	if err := s.writeOwn(secret, []byte(postgresPassword+"\n")); err != nil {
		return err
	}
	return s.run(filepath.Join(s.bin, "initdb"), "--pgdata="+data, "--username="+postgresUser, "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
}

func (s *PG) launchPostgres() (*process, error) {
	if err := s.installTLS(); err != nil {
		return nil, err
	}
	args := []string{"-D", s.data()}
	// Without fsync a killed server still keeps its commits. Only a crash of the
	// machine could lose them.
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(s.port.number), "unix_socket_directories=",
		"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
		"shared_buffers=16MB", "max_connections=200", "dynamic_shared_memory_type=mmap",
		"jit=off", "timezone=UTC", "log_timezone=UTC",
	}, s.settings...) {
		args = append(args, "-c", setting)
	}
	return startProcess(command{
		path: filepath.Join(s.bin, "postgres"),
		args: args,
		env:  s.env(),
		dir:  s.dir,
		log:  s.log(),
		user: s.user,
	}, syscall.SIGQUIT)
}

// takesConnections reads the file in which postgres states its process id and whether it accepts connections, as pg_ctl does.
func (s *PG) takesConnections(pid int) error {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if lines[0] != strconv.Itoa(pid) || len(lines) < 8 || strings.TrimSpace(lines[7]) != "ready" {
		return errors.New("postgres is not ready yet")
	}
	return nil
}

func (s *PG) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(postgresUser, postgresPassword),
		Host:     s.port.addr(),
		Path:     "/" + database,
		RawQuery: s.tls.query(),
	}
	return u.String()
}

// run runs a program as the server's user.
func (s *PG) run(program string, args ...string) error {
	c := exec.Command(program, args...)
	c.Dir, c.Env = s.dir, s.env()
	runAs(c, s.user)
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// env is the whole environment of postgres's programs. A developer's own PG
// settings must not lead a test to another server.
func (s *PG) env() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + s.dir, "TMPDIR=" + s.dir,
		"PGUSER=" + postgresUser, "PGPASSWORD=" + postgresPassword, "PGHOST=127.0.0.1", "PGSSLMODE=disable"}
	if s.port != nil {
		env = append(env, "PGPORT="+strconv.Itoa(s.port.number))
	}
	return env
}

func (s *PG) data() string { return filepath.Join(s.dir, "data") }
