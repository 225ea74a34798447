package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Whoever edits docs/benchmarks.md by hand would lose it at the next `make bench`.
func TestThePageIsItsTemplate(t *testing.T) {
	written, err := os.ReadFile("../../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(written)
	for _, text := range regexp.MustCompile(`{{[^}]*}}`).Split(page, -1) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(text))
		if !found {
			t.Fatalf("docs/benchmarks.md lacks, or has elsewhere:\n%s", text)
		}
		rest = after
	}
	if n := strings.Count(string(written), "\n"); n >= 120 {
		t.Errorf("%d lines are too many for a page", n)
	}
}

func TestRender(t *testing.T) {
	text, err := render(tables{Machine: "M", Ratios: "R", Messages: "Y", Size: "S", Growth: "G"})
	if err != nil || strings.Contains(text, "{{") || !strings.Contains(text, "\n\nR\n\n## Messages\n\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestTable(t *testing.T) {
	table := newTable("a", "b")
	table.add(whole(1234567.5), fixed(median([]float64{3, 1, 2})))
	if table.String() != "| a | b |\n|---|---|\n| 1,234,568 | 2.00 |\n" {
		t.Errorf("%s", table)
	}
	if m := median([]float64{4, 1}); m != 2.5 || median(nil) != 0 {
		t.Errorf("%g", m)
	}
}

func TestMemoryOfAProcess(t *testing.T) {
	p := &process{command: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}}
	now, err := p.memory("VmRSS")
	most, errMost := p.memory("VmHWM")
	if err != nil || errMost != nil || now < 1<<20 || most < now/2 {
		t.Errorf("%d, %d, %v, %v", now, most, err, errMost)
	}
}
