package torture

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// guard kills a process when the test binary ends before it, however it ends. What it returns calls it off; that is for
// before the process is waited for, as long as its number is its own.
func guard(pid int) (callOff func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard a process: %w", err)
	}
	defer read.Close()
	command := exec.Command("/bin/sh", "-c", `trap '' HUP INT TERM; read -r _; kill -KILL "$1" 2>/dev/null`, "torture-guard", strconv.Itoa(pid))
	command.Stdin = read
	if err := command.Start(); err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("guard a process: %w", err)
	}
	return func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = write.Close()
	}, nil
}
