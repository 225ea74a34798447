package monitoring_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// runbookParts are the parts of each runbook section, in this order.
var runbookParts = []string{"**Means.**", "**Users.**", "**Look.**", "**Do.**"}

func TestEveryAlertHasARunbookAndEveryRunbookAnAlert(t *testing.T) {
	alerts := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert != "" {
			alerts[r.Alert] = true
		}
	}
	sections := runbookSections(t)
	for _, name := range slices.Sorted(maps.Keys(alerts)) {
		section, found := sections[name]
		if !found {
			t.Errorf("%s has no section for the alert %s", runbooks, name)
			continue
		}
		at := 0
		for _, part := range runbookParts {
			found := strings.Index(section[at:], part)
			if found < 0 {
				t.Errorf("%s: the section %s lacks %s, or has it out of order", runbooks, name, part)
				break
			}
			at += found
		}
	}
	for name := range sections {
		if !alerts[name] {
			t.Errorf("%s has a section %s, which is no alert", runbooks, name)
		}
	}
}

// TestTheRunbooksListThePagingAlerts compares the head of docs/runbooks.md with the severities of the rules.
func TestTheRunbooksListThePagingAlerts(t *testing.T) {
	head, _, _ := strings.Cut(read(t, "../../../docs/runbooks.md"), "\n## ")
	var pages, named []string
	for _, r := range rules(t) {
		if r.Labels["severity"] == "page" {
			pages = append(pages, r.Alert)
		}
	}
	for _, name := range regexp.MustCompile("`(Levelboard[A-Za-z]+)`").FindAllStringSubmatch(head, -1) {
		named = append(named, name[1])
	}
	slices.Sort(pages)
	slices.Sort(named)
	if pages = slices.Compact(pages); !slices.Equal(pages, named) {
		t.Errorf("docs/runbooks.md lists %v as the alerts that page; the rules have %v", named, pages)
	}
}

// TestTheRunbooksQuoteTheLog checks that log lines quoted by runbooks are in the table of docs/runbooks.md, and that the service writes them.
func TestTheRunbooksQuoteTheLog(t *testing.T) {
	head, _, _ := strings.Cut(read(t, "../../../docs/runbooks.md"), "\n## ")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (?:warn|error)[^|]*\\| `([^`]+)`").FindAllStringSubmatch(head, -1) {
		listed[row[1]] = false
	}
	for name, text := range runbookSections(t) {
		for _, quoted := range regexp.MustCompile("`((?i:[a-z]+ ){4,}[a-z]+)`").FindAllStringSubmatch(text, -1) {
			if _, known := listed[quoted[1]]; !known {
				t.Errorf("%s quotes %q, which docs/runbooks.md does not list", name, quoted[1])
			}
			listed[quoted[1]] = true
		}
	}
	code := ""
	for _, folder := range []string{"app", "usecase/*"} {
		for _, path := range glob(t, "../../"+folder+"/*.go") {
			code += read(t, path)
		}
	}
	for line, quoted := range listed {
		if !quoted || !strings.Contains(code, `"`+line) {
			t.Errorf("the line %q of the table is quoted by a section: %v; it must also begin a line that the service logs", line, quoted)
		}
	}
}

// runbookSections returns the text under each heading that names an alert.
func runbookSections(t *testing.T) map[string]string {
	t.Helper()
	sections := map[string]string{}
	for _, page := range glob(t, runbooks) {
		for _, part := range regexp.MustCompile(`(?m)^## `).Split(read(t, page), -1)[1:] {
			name, text, _ := strings.Cut(part, "\n")
			if _, twice := sections[name]; twice {
				t.Errorf("%s has a second section %s", page, name)
			}
			sections[name] = text
		}
	}
	return sections
}

// runbookPages returns the page of each alert's section.
func runbookPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, page := range glob(t, runbooks) {
		for _, heading := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(read(t, page), -1) {
			pages[heading[1]] = filepath.Base(page)
		}
	}
	return pages
}

// runbookQueries returns the queries in the runbooks' blocks of promql, with their section and line.
func runbookQueries(t *testing.T) (all []query) {
	t.Helper()
	block := regexp.MustCompile("(?s)```promql\n(.*?)```")
	for name, text := range runbookSections(t) {
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(found[1]) {
				all = append(all, query{"runbook " + name, strings.TrimSpace(line)})
			}
		}
	}
	return all
}
