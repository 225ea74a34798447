package testenv

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// server has the common parts of all kinds of servers: a process with its port and directory. The port stays the same.
type server struct {
	tb      testing.TB
	name    string // the program's name
	dir     string
	port    *port
	running *process
	launch  func() (*process, error) // starts the process
	ready   func(pid int) error      // returns nil if it answers
	death   syscall.Signal           // kills it at once
	family  bool                     // it has children, which signals must reach too
	touched bool                     // its test stopped or paused it
	paused  bool                     // it is paused now
}

// open starts the server on a free port, and stops it when its test ends.
func (s *server) open() {
	s.tb.Helper()
	s.tb.Cleanup(s.discard)
	if err := s.openOnce(); err != nil {
		s.tb.Fatalf("starting %s: %v\n%s", s.name, err, logTail(s.log()))
	}
}

func (s *server) openOnce() error {
	for attempt := 1; ; attempt++ {
		err := startOnFreePort(&s.port, s.start)
		if err == nil || attempt == 5 || !errors.Is(err, errExited) {
			return err
		}
	}
}

func (s *server) start() error {
	p, err := s.launch()
	if err != nil {
		return err
	}
	if err := p.waitUntil(s.ready); err != nil {
		_ = p.end(s.death)
		return err
	}
	s.running = p
	return nil
}

// Addr returns the server's host:port.
func (s *server) Addr() string { return s.port.addr() }

// Dir returns the server's directory, with its configuration, log and data.
func (s *server) Dir() string { return s.dir }

func (s *server) log() string { return filepath.Join(s.dir, "server.log") }

// Start starts a stopped or killed server again, on the same port and directory, and returns when it answers.
func (s *server) Start() {
	s.tb.Helper()
	if s.running != nil {
		s.tb.Fatalf("%s is running already", s.name)
	}
	if err := s.start(); err != nil {
		s.tb.Fatalf("starting %s again: %v\n%s", s.name, err, logTail(s.log()))
	}
}

// Kill crashes the server: it ends at once and writes nothing more.
func (s *server) Kill() { s.tb.Helper(); s.end(s.death) }

func (s *server) end(sig syscall.Signal) {
	s.tb.Helper()
	s.mustRun()
	s.touched = true
	err := s.running.end(sig)
	s.running, s.paused = nil, false
	if err != nil {
		s.tb.Fatalf("ending %s: %v\n%s", s.name, err, logTail(s.log()))
	}
}

// Pause freezes the server (SIGSTOP): connections stay open, new ones are accepted, and nothing answers.
func (s *server) Pause() { s.tb.Helper(); s.signal(syscall.SIGSTOP); s.paused = true }

// Resume resumes a paused server.
func (s *server) Resume() { s.tb.Helper(); s.signal(syscall.SIGCONT); s.paused = false }

func (s *server) signal(sig syscall.Signal) {
	s.tb.Helper()
	s.mustRun()
	s.touched = true
	send := s.running.signal
	if s.family {
		send = s.running.signalAll
	}
	if err := send(sig); err != nil {
		s.tb.Fatalf("sending %v to %s: %v", sig, s.name, err)
	}
}

func (s *server) mustRun() {
	s.tb.Helper()
	if s.running == nil {
		s.tb.Fatalf("%s is not running", s.name)
	}
}

// discard kills the server when its test is over. Its data is not needed any more, and it may be paused.
func (s *server) discard() {
	if s.running != nil {
		if s.family {
			_ = s.running.signalAll(syscall.SIGCONT)
		}
		if err := s.running.end(s.death); err != nil && s.tb != nil {
			s.tb.Errorf("%s ended before its test did: %v\n%s", s.name, err, logTail(s.log()))
		}
		s.running = nil
	}
	if s.port != nil {
		s.port.release()
	}
	if err := os.RemoveAll(s.dir); err != nil && s.tb != nil {
		s.tb.Errorf("removing the directory of %s: %v", s.name, err)
	}
}
