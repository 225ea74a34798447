package httpapi

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/periods"
)

// parseQuery rejects a query that cannot be decoded, or that has a parameter twice.
func (r *request) parseQuery() {
	if r.err != nil {
		return
	}
	values, twice, err := edge.Query(r.c)
	switch {
	case err != nil:
		r.err = fault.New(fault.Invalid, "The query of the address is malformed. Encode it as name=value pairs joined by &.")
	case twice != "":
		r.err = fault.New(fault.Invalid, "The query parameter %q is given more than once. Give it once.", shorten(twice))
	}
	r.query = values
}

// int reads a required whole number of the query. It must have no sign + and no leading
// zeros. With math.MaxInt64 as high there is no upper bound: a higher number is read as that.
func (r *request) int(name string, low, high int64) int64 {
	if r.err != nil {
		return 0
	}
	text := r.query.Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) && n == high && text[0] != '+' && text[0] != '0' {
		return n
	}
	if err == nil && n >= low && n <= high && strconv.FormatInt(n, 10) == text {
		return n
	}
	must, bounds := "must be", fmt.Sprintf("from %d to %d", low, high)
	if !r.query.Has(name) {
		must = "is required and must be"
	}
	if high == math.MaxInt64 {
		bounds = fmt.Sprintf("from %d", low)
	}
	r.err = fault.New(fault.Invalid, "The query parameter %s %s a whole number %s.", name, must, bounds)
	return 0
}

// optionalInt is int with a default, usual, for a query without the parameter.
func (r *request) optionalInt(name string, low, high, usual int64) int64 {
	if !r.query.Has(name) {
		return usual
	}
	return r.int(name, low, high)
}

// page reads the number of a page.
func (r *request) page() int64 { return r.int("page", 1, math.MaxInt64) }

// days reads how many days to return, including today.
func (r *request) days() int { return int(r.int("days", 1, periods.MaxHistory)) }

// period reads the name of a period; it is empty when there is none.
func (r *request) period() string {
	name := r.query.Get("period")
	if r.query.Has("period") {
		r.keep(periods.CheckName(name))
	}
	return name
}
