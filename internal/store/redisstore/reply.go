package redisstore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

var errReply = errors.New("unexpected reply")

// reply is a script's answer, or a value in it. Its readers return the zero value for a value of the wrong shape, and keep the first such error for
// done. So a damaged key causes an error, never a panic or a wrong number.
type reply struct {
	value any
	bad   *error // the first error of the whole answer
}

func newReply(value any) reply { return reply{value, new(error)} }

// done returns the first error of the answer's readers, with the name of the operation.
func (r reply) done(operation string) error { return wrap(operation, *r.bad) }

// keep keeps an error for done.
func (r reply) keep(err error) {
	if *r.bad == nil {
		*r.bad = err
	}
}

func (r reply) isNot(what string) { r.keep(fmt.Errorf("%w: a %T is not %s", errReply, r.value, what)) }

// there reports whether there is a value.
func (r reply) there() bool { return r.value != nil }

func (r reply) array() []any {
	all, ok := r.value.([]any)
	if !ok {
		r.isNot("an array")
	}
	return all
}

// size returns the number of elements of an array.
func (r reply) size() int { return len(r.array()) }

// sized returns an array that must have that many elements.
func (r reply) sized(n int) reply {
	if r.size() != n {
		r.isNot("an array of the right size")
	}
	return r
}

// at returns an element of an array; past its end there is no value.
func (r reply) at(i int) reply {
	if all := r.array(); i < len(all) {
		return reply{all[i], r.bad}
	}
	return reply{nil, r.bad}
}

// of returns the value after a name, in an array of alternating names and values; without the name there is no value.
func (r reply) of(name string) reply {
	all := r.array()
	for i := 0; i+1 < len(all); i += 2 {
		if all[i] == name {
			return reply{all[i+1], r.bad}
		}
	}
	return reply{nil, r.bad}
}

func (r reply) number() int64 {
	n, ok := wholeNumber(r.value)
	if !ok {
		r.isNot("a whole number")
	}
	return n
}

// text returns a text; no value is "".
func (r reply) text() string {
	s, ok := r.value.(string)
	if !ok && r.there() {
		r.isNot("a text")
	}
	return s
}

// texts returns an array of texts.
func (r reply) texts() []string {
	all := make([]string, r.size())
	for i := range all {
		all[i] = r.at(i).text()
	}
	return all
}

// words returns the words of a text as an array.
func (r reply) words() reply {
	var all []any
	for word := range strings.SplitSeq(r.text(), " ") {
		all = append(all, word)
	}
	return reply{all, r.bad}
}

// guild reads the incarnation of the guild that an answer is about.
func (r reply) guild(g id.Guild) leaderboard.GuildRef {
	return leaderboard.GuildRef{ID: g, Incarnation: guild.Incarnation(r.of("incarnation").number())}
}

// oneOf reads a number and returns the element of all at that index.
func oneOf[T any](all []T, r reply) (one T) {
	n := r.number()
	if n < 0 || n >= int64(len(all)) {
		r.isNot("a number with a meaning")
		return one
	}
	return all[n]
}

// maxExact is the number up to which a float64 represents each whole number.
const maxExact = 1 << 53

// wholeNumber reads an integer or its text. Scores are floats in Redis; the embedded one writes round scores from 100000000 on as 1e+08.
func wholeNumber(value any) (n int64, ok bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n, true
		}
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExact {
			return int64(f), true
		}
	}
	return 0, false
}
