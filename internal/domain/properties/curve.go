package properties

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/level"
)

// OwnCurve is the option of a form for a curve that is no preset.
const OwnCurve = "own"

// curve is the name of a preset, or OwnCurve with coefficients in fields of their own.
type curve struct{ Options []Option }

func (curve) Shape() string { return "curve" }

// Coefficient returns the name of the field of coefficient i, counted from 0.
func Coefficient(i int) string { return fmt.Sprintf("curve[%d]", i) }

func (curve) fill(f Form, name string, value jsontext.Value, _ *Known) {
	if value.Kind() != '[' {
		f.Fields[name] = plain(value)
		return
	}
	f.Fields[name] = OwnCurve
	for i, c := range decode[[]jsontext.Value](value) {
		f.Fields[Coefficient(i)] = string(c)
	}
}

// read returns the coefficients up to the last one that is not empty.
func (curve) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	if f.Fields[name] != OwnCurve {
		return f.Fields[name]
	}
	list, used := []jsontext.Value{}, 0
	for i := range level.MaxCoefficients {
		typed := f.Fields[Coefficient(i)]
		if list = append(list, Numeric(typed)); strings.TrimSpace(typed) != "" {
			used = i + 1
		}
	}
	return list[:used]
}

func (curve) words(value jsontext.Value, _ *Known) string {
	if value.Kind() != '[' {
		return plain(value)
	}
	var list []string
	for _, c := range decode[[]jsontext.Value](value) {
		list = append(list, plain(c))
	}
	return strings.Join(list, " ")
}

// cooldown is milliseconds in the document, minutes or seconds in a form.
type cooldown struct{}

// Unit ends the name of the field that holds a cooldown's unit.
const Unit = ".unit"

const (
	minutes, seconds = "minutes", "seconds"
	maxCooldown      = 24 * time.Hour
)

func (cooldown) Shape() string { return "cooldown" }

// fill writes minutes if the value is a whole number of them, else seconds.
func (cooldown) fill(f Form, name string, value jsontext.Value, _ *Known) {
	ms := decode[int64](value)
	f.Fields[name], f.Fields[name+Unit] = strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64), seconds
	if ms%60_000 == 0 {
		f.Fields[name], f.Fields[name+Unit] = strconv.FormatInt(ms/60_000, 10), minutes
	}
}

// read returns what was typed, to the nearest millisecond. Without a unit it means minutes.
func (cooldown) read(f Form, name string, _ jsontext.Value, _ *Known) any {
	typed := strings.TrimSpace(f.Fields[name])
	n, err := strconv.ParseFloat(typed, 64)
	scale, ok := map[string]float64{"": 60_000, minutes: 60_000, seconds: 1000}[f.Fields[name+Unit]]
	if err != nil || strings.Trim(typed, "0123456789.") != "" || !ok {
		return strings.TrimSpace(typed + " " + f.Fields[name+Unit])
	}
	return int64(math.Round(min(n, 2*maxCooldown.Seconds()) * scale))
}

func (cooldown) words(value jsontext.Value, _ *Known) string {
	if value.Kind() != '0' {
		return plain(value)
	}
	return Duration(time.Duration(decode[int64](value)) * time.Millisecond)
}

// Duration returns a duration in words, in the largest unit that has no fraction: "2 hours", "1 minute", "12.5 seconds".
func Duration(d time.Duration) string {
	n, called := d.Seconds(), "second"
	switch {
	case d > 0 && d%time.Hour == 0:
		n, called = d.Hours(), "hour"
	case d > 0 && d%time.Minute == 0:
		n, called = d.Minutes(), "minute"
	}
	if n != 1 {
		called += "s"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " " + called
}
