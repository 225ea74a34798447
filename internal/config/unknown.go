package config

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown returns a sentence for each name in environ that begins with Prefix and is no setting, with the setting that was
// probably meant; in alphabetical order. Values are not quoted.
func Unknown(environ []string) []string {
	known := knownNames()
	var names []string
	for name := range toMap(environ) {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	sentences := make([]string, 0, len(names))
	for _, name := range names {
		if near := nearest(name, known); near != "" {
			sentences = append(sentences, fmt.Sprintf("%s is not a setting; did you mean %s?", name, near))
			continue
		}
		sentences = append(sentences, fmt.Sprintf("%s is not a setting; it has no effect", name))
	}
	return sentences
}

func knownNames() []string {
	var names []string
	for _, s := range Describe() {
		names = append(names, s.Name)
		if s.Secret {
			names = append(names, s.Name+fileSuffix)
		}
	}
	return names
}

// nearest returns the known name that differs from name in the fewest letters, or "" when none is close.
func nearest(name string, known []string) string {
	best, bestDistance := "", 4
	for _, k := range known {
		d := distance(strings.TrimPrefix(name, Prefix), strings.TrimPrefix(k, Prefix))
		if d < bestDistance && d < len(k)-len(Prefix) {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
