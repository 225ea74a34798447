//go:build unix

package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestAwakeStandsStillWithTheProcess(t *testing.T) {
	began := Awake()
	Wait(t, "the clock runs", func() bool { return Awake() >= began+3*awakeTick })
	const still = time.Second
	before, wall := Awake(), time.Now()
	stop := exec.Command("sh", "-c", fmt.Sprintf("kill -STOP %d; sleep %g; kill -CONT %[1]d", os.Getpid(), still.Seconds()))
	if err := stop.Run(); err != nil {
		t.Fatal(err)
	}
	took, passed := Awake()-before, time.Since(wall)
	if passed < still || took > passed-still+2*awakeMost {
		t.Errorf("the clock shows %v after %v of which the process stood still for %v", took, passed, still)
	}
}
