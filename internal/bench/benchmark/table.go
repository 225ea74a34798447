package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// table is one of Markdown.
type table struct {
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.header)
	b.WriteString(strings.Repeat("|---", len(t.header)) + "|\n")
	for _, row := range t.rows {
		line(row)
	}
	return b.String()
}

// median is the middle one, or the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratios are those of the values at the same places, so of one round each.
func ratios(of, to []float64) []float64 {
	var all []float64
	for i := range of {
		all = append(all, of[i]/to[i])
	}
	return all
}

// judged is a value beside its aim.
func judged(value, aim float64, most bool) string {
	if most && value > aim || !most && value < aim {
		return fmt.Sprintf("**%.2f: missed**", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// whole is a number with a comma before each three digits.
func whole(value float64) string {
	digits := strconv.FormatInt(int64(value+0.5), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/1e6) }

func trimmed(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func fixed(value float64) string { return strconv.FormatFloat(value, 'f', 2, 64) }
