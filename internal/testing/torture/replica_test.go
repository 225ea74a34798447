package torture

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long the service may take to recover once everything that it needs is back. The longest that it really takes is a guild's
// hydration lock, 10 seconds, if the replica that held it was killed.
const patience = 40 * time.Second

// logKept is the number of log lines of a replica that a failure shows.
const logKept = 60

var announcement = regexp.MustCompile(`^Levelboard \S+ listens on (\S+) `)

// replica is one copy of the service: a child process, started again after each end on new ports.
type replica struct {
	name string
	env  []string
	url  atomic.Pointer[string] // the API's address; nil while it is not serving

	mu       sync.Mutex
	process  *os.Process
	lifeline io.Closer
	expected bool          // it was told to end
	exited   chan struct{} // closed at its end
	exitCode int
	log      []string // the last lines
	trouble  []string // lines that must never be in a log
	loads    int      // number of guilds loaded from the archive
	returns  int      // number of guilds found older in Redis than in the archive
	watchers sync.WaitGroup
}

// start starts the replica and returns before it serves, because it may have to wait for a server that is down.
func (r *replica) start() error {
	command := exec.Command(os.Args[0], "serve")
	command.Env = r.env
	lifeline, err := command.StdinPipe()
	if err != nil {
		return err
	}
	output, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	r.mu.Lock()
	r.process, r.lifeline, r.expected, r.exited = command.Process, lifeline, false, exited
	r.log = append(r.log, fmt.Sprintf("--- %s started as process %d", time.Now().Format(clock), command.Process.Pid))
	r.mu.Unlock()
	r.watchers.Go(func() {
		served := r.follow(output)
		_ = command.Wait()
		r.url.Store(nil)
		r.end(command.ProcessState.ExitCode(), served, exited)
	})
	return nil
}

// follow reads the log to its end, and reports whether the replica ever served.
func (r *replica) follow(output io.Reader) (served bool) {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if found := announcement.FindStringSubmatch(line); found != nil {
			url := "http://" + found[1]
			r.url.Store(&url)
			served = true
		}
		r.mu.Lock()
		if !strings.Contains(line, `msg="request refused`) { // those are in the history
			r.log = append(r.log, line)
			r.log = r.log[max(0, len(r.log)-logKept):]
		}
		switch {
		case strings.Contains(line, "guild loaded from the archive"):
			r.loads++
		case strings.Contains(line, "Redis has gone back in time"):
			r.returns++
		}
		if strings.Contains(line, "DATA RACE") || strings.Contains(line, "panic") {
			r.trouble = append(r.trouble, line)
		}
		r.mu.Unlock()
	}
	return served
}

func (r *replica) end(code int, served bool, exited chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.lifeline.Close()
	r.process, r.exitCode = nil, code
	r.log = append(r.log, fmt.Sprintf("--- %s ended with exit code %d", time.Now().Format(clock), code))
	// A start that fails because a server is down is repeated, as by a supervisor. Any other end is the service's fault.
	if !r.expected && (served || code != 1) {
		r.trouble = append(r.trouble, fmt.Sprintf("it ended by itself, with exit code %d", code))
	}
	close(exited)
}

// signal tells the replica to end, and returns a function that waits for that, or nil if it is not running.
func (r *replica) signal(s syscall.Signal) (wait func() (code int, ok bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil || r.process.Signal(s) != nil {
		return nil
	}
	r.expected = true
	exited := r.exited
	return func() (int, bool) {
		select {
		case <-exited:
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.exitCode, true
		case <-time.After(patience):
			return 0, false
		}
	}
}

// revive starts the replica again if it has ended.
func (r *replica) revive() error {
	r.mu.Lock()
	running := r.process != nil
	r.mu.Unlock()
	if running {
		return nil
	}
	return r.start()
}

// discard kills a running replica, because its test is over.
func (r *replica) discard() {
	_ = r.signal(syscall.SIGKILL)
	r.watchers.Wait()
}

func (r *replica) troubles() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.trouble...)
}

func (r *replica) logTail() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.log, "\n")
}
