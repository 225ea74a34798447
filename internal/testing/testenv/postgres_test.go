//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import (
	"bufio"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// psql runs one statement and returns what it printed.
func psql(t *testing.T, address, statement string) string {
	t.Helper()
	out, err := psqlTry(t, address, statement)
	if err != nil {
		t.Fatalf("%s: %v: %s", statement, err, out)
	}
	return out
}

func psqlTry(t *testing.T, address, statement string) (string, error) {
	t.Helper()
	bin, err := postgresBin()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(bin, "psql"), "-X", "-At", "-d", address, "-c", statement).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// psqlOpen starts a client that stays connected until its input is closed.
func psqlOpen(t *testing.T, address string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	bin, err := postgresBin()
	if err != nil {
		t.Fatal(err)
	}
	client := exec.Command(filepath.Join(bin, "psql"), "-X", "-At", "-d", address)
	input, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(input, "SELECT 7;\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "7\n" {
		t.Fatalf("the client did not connect: %q, %v", line, err)
	}
	return client, input
}

func TestPostgresDatabasesAreFreshAndSeparate(t *testing.T) {
	a, b := Postgres(t), Postgres(t)
	psql(t, a, "CREATE TABLE t (n int)")
	if out, err := psqlTry(t, b, "SELECT * FROM t"); err == nil {
		t.Fatalf("two databases share a table: %s", out)
	}
	if host(t, a) != host(t, b) {
		t.Fatalf("two databases on two servers: %s, %s", host(t, a), host(t, b))
	}
}

func TestPostgresDropsADatabaseThatIsInUse(t *testing.T) {
	var used string
	var client *exec.Cmd
	var input io.WriteCloser
	t.Run("a test that leaves a connection open", func(t *testing.T) {
		used = Postgres(t)
		client, input = psqlOpen(t, used)
	})
	input.Close()
	_ = client.Wait()
	if out, err := psqlTry(t, used, "SELECT 1"); err == nil {
		t.Fatalf("the database outlived its test: %s", out)
	}
}

func TestPostgresServerKeepsWhatItCommittedThroughKillAndStop(t *testing.T) {
	s := PostgresServer(t)
	address := s.URL()
	psql(t, address, "CREATE TABLE t (n int); INSERT INTO t VALUES (7)")
	for name, end := range map[string]func(){"Kill": s.Kill, "Stop": s.Stop} {
		end()
		if out, err := psqlTry(t, address, "SELECT 1"); err == nil {
			t.Fatalf("after %s it still answers: %s", name, out)
		}
		s.Start()
		if s.URL() != address {
			t.Fatalf("URL after %s is %s, was %s", name, s.URL(), address)
		}
		if got := psql(t, address, "SELECT n FROM t"); got != "7" {
			t.Fatalf("after %s: %q", name, got)
		}
	}
}

// Neither a connection that is open nor a new one gets an answer while the
// server is paused, and both do afterwards.
func TestPostgresServerThatIsPausedDoesNotAnswer(t *testing.T) {
	s := PostgresServer(t)
	client, input := psqlOpen(t, s.URL())
	s.Pause()
	if _, err := io.WriteString(input, "CREATE TABLE t (n int);\n"); err != nil {
		t.Fatal(err)
	}
	impatient := s.URL() + "&connect_timeout=2"
	if out, err := psqlTry(t, impatient, "SELECT 1"); err == nil {
		t.Fatalf("a new connection gets %s", out)
	}
	s.Resume()
	input.Close()
	if err := client.Wait(); err != nil {
		t.Fatalf("the connection that was open: %v", err)
	}
	if got := psql(t, s.URL(), "SELECT count(*) FROM t"); got != "0" {
		t.Fatalf("afterwards: %q", got)
	}
}

func TestPostgresServerLeavesNothing(t *testing.T) {
	var s *PG
	var pid int
	t.Run("a test", func(t *testing.T) {
		s = PostgresServer(t)
		pid = s.running.pid
	})
	assertGone(t, pid, s.dir)
}

func TestPostgresServersAreOnTheirOwn(t *testing.T) {
	if a, b := PostgresServer(t), Postgres(t); host(t, a.URL()) == host(t, b) {
		t.Fatal("a private server is the shared one")
	}
}

func TestDirectoryClosedToOthersIsNotOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if open(dir) {
		t.Fatal("a directory of mode 0700 counts as open to everyone")
	}
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func host(t *testing.T, address string) string { t.Helper(); return parse(t, address).Host }
