package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

func TestThePlotIsWholeAndWithinItsFrame(t *testing.T) {
	for name, curves := range map[string][]curve{
		"three": {
			{"increment", []point{{1000, 1000, 0.5, 2, true}, {9000, 8000, 40, 400, false}}},
			{"rank", []point{{2000, 2000, 0.01, 1, true}, {43210, 43000, 1, 9, true}}},
			{"page", []point{{3000, 3000, 0.4, 0.9, true}}},
		},
		"slow":  {{"increment", []point{{1, 1, 59000, 60000, true}}}},
		"empty": nil,
	} {
		text := plot(curves)
		elements := map[string]int{}
		for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			elements[start.Name.Local]++
			for _, a := range start.Attr {
				within(t, a, "cx", plotLeft, plotRight)
				within(t, a, "cy", plotTop, plotBottom)
				within(t, a, "x1", 0, plotWidth)
				within(t, a, "y1", 0, plotHeight)
			}
		}
		points := 0
		for _, c := range curves {
			points += len(c.points)
			if !strings.Contains(text, ">"+c.title+"</text>") {
				t.Errorf("%s: %s has no name", name, c.title)
			}
		}
		if elements["circle"] != 2*points || elements["polyline"] != 2*len(curves) {
			t.Errorf("%s: %v", name, elements)
		}
		for _, label := range []string{"requests due a second", "latency, ms", "prefers-color-scheme: dark"} {
			if !strings.Contains(text, label) {
				t.Errorf("%s: no %q", name, label)
			}
		}
	}
}

func within(t *testing.T, a xml.Attr, name string, least, most float64) {
	t.Helper()
	if a.Name.Local != name {
		return
	}
	if at, err := strconv.ParseFloat(a.Value, 64); err != nil || at < least-0.1 || at > most+0.1 {
		t.Errorf("%s is %s, beyond %v to %v", name, a.Value, least, most)
	}
}

func TestHigherIsSlowerAndRightIsMore(t *testing.T) {
	s := scaleOf([]curve{{"rank", []point{{1000, 1000, 1, 10, true}, {5000, 5000, 2, 80, true}}}})
	if s.x(1000) >= s.x(5000) || s.y(80) >= s.y(10) || s.x(0) != plotLeft || s.y(plotLeast) != plotBottom || s.decades != 3 || s.rate != 5000 {
		t.Errorf("%+v", s)
	}
}
