package loadgen

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"levelboard/internal/platform/pause"
)

// sleeper waits for a moment to some ten microseconds. Go's own timers wait in whole milliseconds when the process has nothing
// else to do, which would be measured as latency.
type sleeper struct{ timer *os.File } // nil: as exactly as Go's timers are

// longSleep is how long the end of a context may have to wait for the timer.
const longSleep = 100 * time.Millisecond

func newSleeper() sleeper {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return sleeper{}
	}
	return sleeper{os.NewFile(uintptr(fd), "timer")}
}

func (s sleeper) close() {
	if s.timer != nil {
		_ = s.timer.Close()
	}
}

// until reports false when ctx ended first.
func (s sleeper) until(ctx context.Context, at time.Time) bool {
	left := time.Until(at)
	if left <= 0 {
		return ctx.Err() == nil
	}
	if s.timer == nil {
		return pause.For(ctx, left)
	}
	if left > longSleep {
		if !pause.For(ctx, left-longSleep/2) {
			return false
		}
		left = max(time.Until(at), 1)
	}
	// So short that the end of ctx may wait for it.
	raw, err := s.timer.SyscallConn()
	if err != nil {
		return false
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(left.Nanoseconds())}
	if raw.Control(func(fd uintptr) { err = unix.TimerfdSettime(int(fd), 0, &spec, nil) }) != nil || err != nil {
		return false
	}
	var expired [8]byte
	_, err = s.timer.Read(expired[:])
	return err == nil && ctx.Err() == nil
}
