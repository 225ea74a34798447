package cli

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// The test is itself the program whose code goes, and it goes on.
func TestForgottenCodeComesBack(t *testing.T) {
	resident := func() int {
		t.Helper()
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
		if found == nil {
			t.Fatalf("no RssFile in %s", status)
		}
		kb, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return kb
	}
	before := resident()
	forgetCode()
	if after := resident(); after >= before {
		t.Errorf("%d KB of files are resident afterwards, %d before", after, before)
	}
}
