package redisstore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

var errReply = errors.New("unexpected reply")

// reply is the array that a script answered. Its readers return an error for anything of the wrong shape, so that a
// damaged key is a failure and never a panic or a wrong number.
type reply []any

// maxExact is up to where every whole number is a float.
const maxExact = 1 << 53

// of returns the place of a name's value in an answer of alternating names and values; -1 without the name.
func (r reply) of(name string) int {
	for i := 0; i+1 < len(r); i += 2 {
		if r[i] == name {
			return i + 1
		}
	}
	return -1
}

// named is a number of an answer, and where it goes.
type named struct {
	name string
	to   *int64
}

// named reads numbers by their names.
func (r reply) named(all ...named) error {
	for _, one := range all {
		n, err := r.number(r.of(one.name))
		if err != nil {
			return fmt.Errorf("%w: %s", err, one.name)
		}
		*one.to = n
	}
	return nil
}

func (r reply) at(i int) any {
	if i < 0 || i >= len(r) {
		return nil
	}
	return r[i]
}

// number reads element i, an integer or its text. A score is a float to Redis, and the embedded one writes round ones from
// 100000000 on as 1e+08.
func (r reply) number(i int) (int64, error) {
	switch v := r.at(i).(type) {
	case int64:
		return v, nil
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExact {
			return int64(f), nil
		}
	}
	return 0, fmt.Errorf("%w: element %d is not a whole number", errReply, i)
}

// numbers reads the first elements into the targets.
func (r reply) numbers(targets ...*int64) error {
	for i, target := range targets {
		n, err := r.number(i)
		if err != nil {
			return err
		}
		*target = n
	}
	return nil
}

// texts reads element i, an array of texts, in which nil is "".
func (r reply) texts(i int) ([]string, error) {
	list, err := r.list(i, -1)
	all := make([]string, len(list))
	for j := 0; j < len(list) && err == nil; j++ {
		all[j], _, err = list.text(j)
	}
	return all, err
}

// oneOf returns the meaning of a script's answer n, from 0 on.
func oneOf[T any](all []T, n int64) (one T, err error) {
	if n < 0 || n >= int64(len(all)) {
		return one, errReply
	}
	return all[n], nil
}

// text reads element i; ok is false when it is nil.
func (r reply) text(i int) (s string, ok bool, err error) {
	switch v := r.at(i).(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	}
	return "", false, fmt.Errorf("%w: element %d is not a string", errReply, i)
}

// list reads element i, an array of exactly size elements, or of any number when size is negative.
func (r reply) list(i, size int) (reply, error) {
	v, ok := r.at(i).([]any)
	if !ok || size >= 0 && len(v) != size {
		return nil, fmt.Errorf("%w: element %d is not an array of the right size", errReply, i)
	}
	return v, nil
}
