package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startTime = 2 * time.Minute // that a start may take; the floor fills its board
	stopTime  = 30 * time.Second
	// startPoll is how often a program that starts is asked whether it is ready, and so how exact the time of a start is.
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
	ticker := time.NewTicker(startPoll)
	defer ticker.Stop()
	for !answers(ctx, ready) {
		select {
		case <-p.ended:
			return nil, 0, fmt.Errorf("%s ended while it started: %s", program, p.said.String())
		case <-ctx.Done():
			return nil, 0, errors.Join(fmt.Errorf("%s is not ready", program), p.stop())
		case <-ticker.C:
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

// resident is the memory that the program has in use, in bytes.
func (p *process) resident() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, errors.New("the memory of a program is known on Linux only")
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("the memory of a program is not known")
}

// watchResident looks at the memory until the function that it returns is called, which returns the most that was seen.
func (p *process) watchResident() (end func() int64) {
	var most int64
	quit := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			if now, err := p.resident(); err == nil {
				most = max(most, now)
			}
			select {
			case <-quit:
				return
			case <-ticker.C:
			}
		}
	})
	return func() int64 {
		close(quit)
		group.Wait()
		return most
	}
}

// freeAddress is one of the loopback that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
