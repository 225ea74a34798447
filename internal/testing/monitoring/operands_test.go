package monitoring_test

import (
	"regexp"
	"strings"
)

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	splitters  = regexp.MustCompile(`\s(?:and|or|unless)\s|[=!<>]=|[<>]`)
	braces     = regexp.MustCompile(`\{[^}]*\}`)
	constant   = regexp.MustCompile(`^[-+*/. 0-9]*$`)
	ofAbsent   = regexp.MustCompile(`^absent\((.*)\)$`)
	whitespace = regexp.MustCompile(`\s+`)
)

// operands returns what an alert's condition compares: each side of its comparisons and of and, or and unless, without constants. A condition
// has no result while all is well, but its operands must have data. The operand of absent(x) is x.
func operands(expr string) (all []string) {
	expr = strings.TrimSpace(whitespace.ReplaceAllString(expr, " "))
	if inner, wrapped := unwrap(expr); wrapped {
		return operands(inner)
	}
	if inner := ofAbsent.FindStringSubmatch(expr); inner != nil {
		return operands(inner[1])
	}
	// Operators in strings, braces and parentheses do not split.
	flat := braces.ReplaceAllStringFunc(quoted.ReplaceAllStringFunc(expr, blank), blank)
	depth := 0
	top := []byte(flat)
	for i, c := range top {
		if c == ')' {
			depth--
		}
		if depth > 0 {
			top[i] = '_'
		}
		if c == '(' {
			depth++
		}
	}
	at := 0
	cuts := splitters.FindAllIndex(top, -1)
	if len(cuts) == 0 {
		if constant.MatchString(expr) {
			return nil
		}
		return []string{expr}
	}
	for _, cut := range append(cuts, []int{len(expr), len(expr)}) {
		all = append(all, operands(expr[at:cut[0]])...)
		at = cut[1]
	}
	return all
}

func blank(s string) string { return strings.Repeat("_", len(s)) }

// unwrap removes the parentheses around a whole expression.
func unwrap(expr string) (string, bool) {
	if !strings.HasPrefix(expr, "(") {
		return expr, false
	}
	depth := 0
	for i, c := range quoted.ReplaceAllStringFunc(expr, blank) {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return expr[1:i], i == len(expr)-1
		}
	}
	return expr, false
}
