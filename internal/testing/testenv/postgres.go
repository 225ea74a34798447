package testenv

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const postgresUser = "levelboard"

// PG is a private postgres server, for tests that break it.
type PG struct {
	tb       testing.TB
	instance *instance
}

// PostgresOption changes how a postgres server is configured.
type PostgresOption func(*instance)

// WithDurableCommits makes the server write to the disk what and when a
// server does that nobody has configured, and gives it the memory of one. A
// benchmark of writes means little without.
func WithDurableCommits() PostgresOption {
	return func(i *instance) {
		i.settings = append(i.settings, "fsync=on", "full_page_writes=on", "wal_level=replica", "max_wal_senders=10", "shared_buffers=128MB")
	}
}

// PostgresServer starts a postgres server of the test's own and returns when
// it answers. It stops when the test ends.
func PostgresServer(tb testing.TB, options ...PostgresOption) *PG {
	tb.Helper()
	instance, err := newInstance(options...)
	if err != nil {
		tb.Fatalf("start postgres: %v", err)
	}
	tb.Cleanup(instance.discard)
	return &PG{tb: tb, instance: instance}
}

// URL is the address of the server's database, empty at first, for its superuser.
func (s *PG) URL() string { return s.instance.url("postgres") }

// Kill makes the server crash: all its processes end at once and write nothing
// more (SIGQUIT; a SIGKILL would leave orphans that hold its memory). Start
// then goes through crash recovery.
func (s *PG) Kill() { s.tb.Helper(); s.end(syscall.SIGQUIT) }

// Stop ends the server in an orderly way and cuts its clients off (SIGINT).
func (s *PG) Stop() { s.tb.Helper(); s.end(syscall.SIGINT) }

// Pause freezes the server with all its processes (SIGSTOP): connections stay
// open, new ones are taken, and nothing answers.
func (s *PG) Pause() { s.tb.Helper(); s.signal(sigStop) }

// Resume lets a paused server go on.
func (s *PG) Resume() { s.tb.Helper(); s.signal(sigCont) }

func (s *PG) signal(sig syscall.Signal) {
	s.tb.Helper()
	if s.instance.running == nil {
		s.tb.Fatal("postgres is not running")
	}
	if err := s.instance.running.signalAll(sig); err != nil {
		s.tb.Fatalf("send %v to postgres: %v", sig, err)
	}
}

// Start runs a stopped or killed server again, on the same port and data.
func (s *PG) Start() {
	s.tb.Helper()
	if s.instance.running != nil {
		s.tb.Fatal("postgres is running already")
	}
	if err := s.instance.start(); err != nil {
		s.tb.Fatalf("start postgres again: %v\n%s", err, logTail(s.instance.log()))
	}
}

func (s *PG) end(sig syscall.Signal) {
	s.tb.Helper()
	if s.instance.running == nil {
		s.tb.Fatal("postgres is not running")
	}
	err := s.instance.running.end(sig)
	s.instance.running = nil
	if err != nil {
		s.tb.Fatalf("end postgres: %v\n%s", err, logTail(s.instance.log()))
	}
}

// Postgres returns the URL of a fresh, empty database on a server that all
// tests of the binary share. The database is dropped when the test ends, with
// the connections that are still open; [Main] stops the server.
func Postgres(tb testing.TB) string {
	tb.Helper()
	instance, err := shared.get()
	if err != nil {
		tb.Fatalf("start postgres: %v", err)
	}
	database := strings.ToLower("test_" + rand.Text())
	if err := instance.run("createdb", database); err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := instance.run("dropdb", "--force", database); err != nil {
			tb.Errorf("drop the test's database: %v", err)
		}
	})
	return instance.url(database)
}

// shared is the test binary's common postgres server, started at first use.
var shared sharedInstance

type sharedInstance struct {
	mu       sync.Mutex
	instance *instance
	err      error
}

func (s *sharedInstance) get() (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.instance == nil && s.err == nil {
		s.instance, s.err = newInstance()
	}
	return s.instance, s.err
}

func (s *sharedInstance) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.instance != nil {
		s.instance.discard()
		s.instance = nil
	}
}

// instance is a data directory and the postgres process that serves it.
type instance struct {
	bin      string
	dir      string
	user     *account
	password string
	settings []string // in place of some of start's
	tls      *postgresTLS
	port     *port
	running  *process
}

func newInstance(options ...PostgresOption) (*instance, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	dir, user, err := postgresDir()
	if err != nil {
		return nil, err
	}
	i := &instance{bin: bin, dir: dir, user: user, password: rand.Text()}
	for _, option := range options {
		option(i)
	}
	if err := i.initialise(); err != nil {
		i.discard()
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		err := startOnFreePort(&i.port, i.start)
		if err == nil {
			return i, nil
		}
		if attempt == 5 || !errors.Is(err, errExited) {
			err = fmt.Errorf("%w\n%s", err, logTail(i.log()))
			i.discard()
			return nil, err
		}
	}
}

func (i *instance) initialise() error {
	secret := filepath.Join(i.dir, "password")
	if err := i.writeOwn(secret, []byte(i.password+"\n")); err != nil {
		return err
	}
	return i.run("initdb", "--pgdata="+i.data(), "--username="+postgresUser, "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
}

func (i *instance) start() error {
	if err := i.installTLS(); err != nil {
		return err
	}
	args := []string{"-D", i.data()}
	// Without fsync a killed server still keeps what it committed: only the
	// machine's own crash could lose it.
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(i.port.number), "unix_socket_directories=",
		"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
		"shared_buffers=16MB", "max_connections=200", "dynamic_shared_memory_type=mmap",
		"jit=off", "timezone=UTC", "log_timezone=UTC",
	}, i.settings...) {
		args = append(args, "-c", setting)
	}
	p, err := startProcess(command{
		path: filepath.Join(i.bin, "postgres"),
		args: args,
		env:  i.env(),
		dir:  i.dir,
		log:  i.log(),
		user: i.user,
	}, syscall.SIGQUIT)
	if err != nil {
		return err
	}
	if err := p.waitUntil(i.ready); err != nil {
		_ = p.end(syscall.SIGQUIT)
		return err
	}
	i.running = p
	return nil
}

// ready reads the file in which postgres states its process id and whether it
// takes connections yet, as pg_ctl does.
func (i *instance) ready(pid int) error {
	text, err := os.ReadFile(filepath.Join(i.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if lines[0] != strconv.Itoa(pid) || len(lines) < 8 || strings.TrimSpace(lines[7]) != "ready" {
		return errors.New("postgres is not ready yet")
	}
	return nil
}

func (i *instance) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(postgresUser, i.password),
		Host:     i.port.addr(),
		Path:     "/" + database,
		RawQuery: i.tls.query(),
	}
	return u.String()
}

// run runs one of postgres's programs to its end.
func (i *instance) run(program string, args ...string) error {
	c := exec.Command(filepath.Join(i.bin, program), args...)
	c.Dir, c.Env = i.dir, i.env()
	runAs(c, i.user)
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// env is all that postgres's programs see: a developer's own PG settings must
// not lead a test to another server.
func (i *instance) env() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + i.dir, "TMPDIR=" + i.dir,
		"PGUSER=" + postgresUser, "PGPASSWORD=" + i.password, "PGHOST=127.0.0.1", "PGSSLMODE=disable"}
	if i.port != nil {
		env = append(env, "PGPORT="+strconv.Itoa(i.port.number))
	}
	return env
}

func (i *instance) data() string { return filepath.Join(i.dir, "data") }
func (i *instance) log() string  { return filepath.Join(i.dir, "server.log") }

// discard crashes the server, whose data is of no more use, and removes it. It
// may be paused.
func (i *instance) discard() {
	if i.running != nil {
		_ = i.running.signalAll(sigCont)
		_ = i.running.end(syscall.SIGQUIT)
		i.running = nil
	}
	if i.port != nil {
		i.port.release()
	}
	_ = os.RemoveAll(i.dir)
}
