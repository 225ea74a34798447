//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package testenv

import (
	"errors"
	"os/exec"
	"syscall"
)

var errUnsupported = errors.New("servers for tests need a Unix system (on Windows: WSL)")

const (
	sigStop = syscall.Signal(0)
	sigCont = syscall.Signal(0)
)

type process struct{ pid int }

func startProcess(command, syscall.Signal) (*process, error) { return nil, errUnsupported }

func (p *process) exited() bool                { return true }
func (p *process) end(syscall.Signal) error    { return errUnsupported }
func (p *process) signal(syscall.Signal) error { return errUnsupported }

func (p *process) signalAll(syscall.Signal) error { return errUnsupported }

func runAs(*exec.Cmd, *account) {}
