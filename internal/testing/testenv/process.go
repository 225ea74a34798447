package testenv

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	startTimeout = 60 * time.Second // slow machines, crash recovery, a full AOF
	stopTimeout  = 60 * time.Second
)

// errExited means that the server exited before it answered.
var errExited = errors.New("the server exited")

// command describes a server process.
type command struct {
	path string
	args []string
	env  []string
	dir  string // working directory, removed by the watchdog if the test binary dies
	log  string // file that receives standard output and error
	user *account
}

// account is the unprivileged user that a server runs as; nil means the current user.
type account struct{ uid, gid uint32 }

// waitUntil polls ready until it returns nil, the process exits, or the time is up.
func (p *process) waitUntil(ready func(pid int) error) error {
	return p.waitWithin(startTimeout, ready)
}

func (p *process) waitWithin(limit time.Duration, ready func(pid int) error) error {
	var err error
	Poll(limit, func() bool {
		if err = ready(p.pid); err != nil && p.exited() {
			err = errExited
		}
		return err == nil || err == errExited
	})
	if err != nil && err != errExited {
		return fmt.Errorf("no answer within %v: %w", limit, err)
	}
	return err
}

// logTail returns the last lines of a log, for an error message.
func logTail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
