//go:build unix

package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// watchdogScript waits for the end of its input, which comes when the process
// with the other end of the pipe dies, however it dies. A paused server and its
// children must resume first.
const watchdogScript = `
trap '' HUP INT TERM
read -r _
kill -"$1" "$2" 2>/dev/null
for p in $(ps -A -o ppid= -o pid= 2>/dev/null | while read -r parent p; do [ "$parent" = "$2" ] && echo "$p"; done) "$2"; do
  kill -CONT "$p" 2>/dev/null
done
n=0
while kill -0 "$2" 2>/dev/null && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done
kill -KILL "$2" 2>/dev/null
rm -rf -- "$3"
`

// process is a running server with its watchdog. No goroutine waits for it, so
// that a test can look for leaked goroutines while its servers run.
type process struct {
	pid int

	mu       sync.Mutex
	reaped   bool
	watchdog int
	lifeline *os.File
}

// startProcess starts a server in its own session, which a terminal's Ctrl-C does
// not reach. onDeath is the signal that the watchdog sends it.
func startProcess(c command, onDeath syscall.Signal) (*process, error) {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	server := exec.Command(c.path, c.args...)
	server.Dir, server.Env = c.dir, c.env
	server.Stdout, server.Stderr = log, log
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.user.credential()}
	pid, err := launch(server)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.path, err)
	}
	p := &process{pid: pid}
	if err := p.watch(c.dir, onDeath); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		reap(pid)
		return nil, fmt.Errorf("start the watchdog of %s: %w", c.path, err)
	}
	return p, nil
}

func (p *process) watch(dir string, onDeath syscall.Signal) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	watchdog := exec.Command("/bin/sh", "-c", watchdogScript, "testenv-watchdog",
		strconv.Itoa(int(onDeath)), strconv.Itoa(p.pid), dir)
	watchdog.Stdin = read
	watchdog.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.watchdog, err = launch(watchdog)
	if err != nil {
		_ = write.Close()
		return err
	}
	p.lifeline = write
	return nil
}

// exited reports whether the process has ended, and reaps it if so.
func (p *process) exited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return true
	}
	pid, err := wait4(p.pid, syscall.WNOHANG)
	if pid == p.pid || errors.Is(err, syscall.ECHILD) {
		p.reaped = true
		p.dismissWatchdog()
	}
	return p.reaped
}

// end sends a signal and returns when the process is gone. A process that does
// not exit in time is killed, and that is an error.
func (p *process) end(sig syscall.Signal) error {
	if p.exited() {
		return errExited
	}
	if err := syscall.Kill(p.pid, sig); err != nil {
		return fmt.Errorf("send %v to process %d: %w", sig, p.pid, err)
	}
	if Poll(stopTimeout, p.exited) {
		return nil
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	reap(p.pid)
	p.exited()
	return fmt.Errorf("process %d ignored %v for %v and was killed", p.pid, sig, stopTimeout)
}

func (p *process) signal(sig syscall.Signal) error {
	if p.exited() {
		return errExited
	}
	return syscall.Kill(p.pid, sig)
}

// signalAll sends a signal to the process and its children. A stopped process
// starts no new ones.
func (p *process) signalAll(sig syscall.Signal) error {
	if err := p.signal(sig); err != nil {
		return err
	}
	sent := map[int]bool{}
	for {
		children, err := childrenOf(p.pid)
		if err != nil {
			return err
		}
		fresh := false
		for _, child := range children {
			if sent[child] {
				continue
			}
			sent[child], fresh = true, true
			if err := syscall.Kill(child, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("send %v to process %d: %w", sig, child, err)
			}
		}
		if !fresh {
			return nil
		}
	}
}

func childrenOf(pid int) ([]int, error) {
	list, err := exec.Command("ps", "-A", "-o", "ppid=", "-o", "pid=").Output()
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var children []int
	for line := range strings.Lines(string(list)) {
		var parent, child int
		if _, err := fmt.Sscan(line, &parent, &child); err == nil && parent == pid {
			children = append(children, child)
		}
	}
	return children, nil
}

// dismissWatchdog kills the watchdog before it sees the end of its input, so that
// it does not signal a process id that was reused.
func (p *process) dismissWatchdog() {
	_ = syscall.Kill(p.watchdog, syscall.SIGKILL)
	reap(p.watchdog)
	_ = p.lifeline.Close()
}

// launch starts a command and releases it from os.Process, because this package
// waits for it itself.
func launch(c *exec.Cmd) (int, error) {
	if err := c.Start(); err != nil {
		return 0, err
	}
	pid := c.Process.Pid
	return pid, c.Process.Release()
}

func reap(pid int) { _, _ = wait4(pid, 0) }

func wait4(pid, options int) (int, error) {
	for {
		got, err := syscall.Wait4(pid, nil, options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return got, err
		}
	}
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// runAs makes a short-lived command run as the account.
func runAs(c *exec.Cmd, a *account) {
	c.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential()}
}
