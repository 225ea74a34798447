package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// table is one of Markdown.
type table struct{ text strings.Builder }

func newTable(header ...string) *table {
	t := &table{}
	t.add(header...)
	t.text.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	return t
}

func (t *table) add(cells ...string) { fmt.Fprintf(&t.text, "| %s |\n", strings.Join(cells, " | ")) }

func (t *table) String() string { return t.text.String() }

// median is the middle one, or the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// whole is a number, rounded, with a comma before each three digits.
func whole(value float64) string { return humanize.Comma(int64(value + 0.5)) }

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/1e6) }

func fixed(value float64) string { return strconv.FormatFloat(value, 'f', 2, 64) }
