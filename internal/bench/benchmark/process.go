package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	startTime = 2 * time.Minute // that a start may take; the floor fills its board
	stopTime  = 30 * time.Second
	startPoll = 2 * time.Millisecond
)

// process is a program that was started.
type process struct {
	command *exec.Cmd
	said    bytes.Buffer // to be read after its end
	ended   chan struct{}
}

// startProcess starts a program and waits until the address answers 200. It says how long that took.
func startProcess(ctx context.Context, ready string, program string, args ...string) (*process, time.Duration, error) {
	p := &process{command: exec.Command(program, args...), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = &p.said, &p.said
	began := time.Now()
	if err := p.command.Start(); err != nil {
		return nil, 0, err
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait()
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !answers(ctx, ready) {
		select {
		case <-p.ended:
			return nil, 0, fmt.Errorf("%s ended while it started: %s", program, p.said.String())
		case <-ctx.Done():
			return nil, 0, errors.Join(fmt.Errorf("%s is not ready", program), p.stop())
		case <-time.After(startPoll):
		}
	}
	return p, time.Since(began), nil
}

func answers(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// stop ends the program as an init system would.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTime):
		_ = p.command.Process.Kill()
		<-p.ended
		return errors.New("a program did not stop when it was asked to")
	}
}

// memory reads a line of /proc/PID/status, in bytes: VmRSS is what is resident now, VmHWM the most that was since the start.
func (p *process) memory(name string) (bytes int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, errors.New("the memory of a program is known on Linux only")
	}
	_, rest, _ := strings.Cut(string(status), name+":")
	_, err = fmt.Sscan(rest, &bytes)
	return bytes * 1024, err
}
