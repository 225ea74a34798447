//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestServersDieWithAKilledTestBinary(t *testing.T) {
	victim := exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.count=1")
	victim.Env = append(os.Environ(), orphanVariable+"=1")
	output, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Wait() }()
	defer func() { _ = victim.Process.Kill() }()

	var pids [3]int
	var dirs [3]string
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if n, _ := fmt.Sscanf(lines.Text(), "victim %d %s %d %s %d %s", &pids[0], &dirs[0], &pids[1], &dirs[1], &pids[2], &dirs[2]); n == 6 {
			break
		}
	}
	for _, pid := range pids {
		if pid == 0 || !runs(pid) {
			t.Fatalf("not all of the victim's servers run: %d", pids)
		}
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for i, pid := range pids {
		assertGone(t, pid, dirs[i])
	}
}

func TestPostgresServerMayEndItsTestPaused(t *testing.T) {
	var s *PG
	var pids []int
	t.Run("a test", func(t *testing.T) {
		s = PostgresServer(t)
		s.Pause()
		children, err := childrenOf(s.running.pid)
		if err != nil || len(children) == 0 {
			t.Fatalf("%v, %v", children, err)
		}
		pids = append(children, s.running.pid)
	})
	for _, pid := range pids {
		assertGone(t, pid, s.dir)
	}
}

// assertGone fails unless a process and its directory are soon gone.
func assertGone(t *testing.T, pid int, dir string) {
	t.Helper()
	Wait(t, fmt.Sprintf("process %d and its directory %s are gone", pid, dir), func() bool {
		_, err := os.Stat(dir)
		return !runs(pid) && errors.Is(err, os.ErrNotExist)
	})
}

// runs does not count a process that has ended and only waits to be reaped:
// in a container whose first process reaps nobody, an orphan stays like that.
func runs(pid int) bool {
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && !strings.Contains(string(stat), ") Z ")
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(state) > 0 && state[0] != 'Z'
}
