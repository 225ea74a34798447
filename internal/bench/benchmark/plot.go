package main

import (
	"fmt"
	"math"
	"strings"
)

// The plot's measures, in its own units.
const (
	plotWidth, plotHeight            = 760, 420
	plotLeft, plotRight              = 70, 740
	plotTop, plotBottom              = 60, 360
	plotLeast                        = 0.1 // ms
	labelled                         = 5   // rates on the axis
	plotMarkKept, plotMarkOverloaded = 2.5, 4.5
)

const plotStyle = `  <style>
    .text { fill: #1f2328; }
    .note { fill: #57606a; font-size: 12px; }
    .axis { stroke: #57606a; }
    .grid { stroke: #d0d7de; stroke-width: 0.7; }
    .line { fill: none; stroke-width: 2; }
    .p99 { stroke-dasharray: 6 4; }
    .c0 { stroke: #0969da; } .f0 { fill: #0969da; }
    .c1 { stroke: #1a7f37; } .f1 { fill: #1a7f37; }
    .c2 { stroke: #bc4c00; } .f2 { fill: #bc4c00; }
    .over { fill: none; stroke-width: 2; }
    @media (prefers-color-scheme: dark) {
      .text { fill: #f0f6fc; }
      .note { fill: #9ea7b3; }
      .axis { stroke: #8b949e; }
      .grid { stroke: #30363d; }
      .c0 { stroke: #58a6ff; } .f0 { fill: #58a6ff; }
      .c1 { stroke: #3fb950; } .f1 { fill: #3fb950; }
      .c2 { stroke: #f0883e; } .f2 { fill: #f0883e; }
    }
  </style>
`

// plot draws up to three curves as SVG, the rates linear, the latencies by powers of ten.
func plot(curves []curve) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="14">
  <title id="title">Latency against rate</title>
  <desc id="desc">Median and 99th percentile of latency, at fixed rates of arrival, for %s. The numbers are in the table beside it.</desc>
`, plotWidth, plotHeight, strings.Join(titles(curves), ", "))
	b.WriteString(plotStyle)
	s := scaleOf(curves)
	s.axes(&b)
	for i, c := range curves {
		s.draw(&b, i, c)
		x := plotLeft + 150*i
		fmt.Fprintf(&b, "  <line class=\"line c%d\" x1=\"%d\" y1=\"24\" x2=\"%d\" y2=\"24\"/><text class=\"text\" x=\"%d\" y=\"29\">%s</text>\n", i, x, x+30, x+38, c.title)
	}
	b.WriteString("  <text class=\"note\" x=\"740\" y=\"29\" text-anchor=\"end\">solid: p50, dashed: p99; ring: did not keep up</text>\n</svg>\n")
	return b.String()
}

func titles(curves []curve) (all []string) {
	for _, c := range curves {
		all = append(all, c.title)
	}
	return all
}

// scale places rates and latencies.
type scale struct {
	step    float64 // between rates on the axis
	rate    float64 // at the right end
	decades float64 // from plotLeast to the top
}

func scaleOf(curves []curve) scale {
	rate, latency := 1.0, 1.0
	for _, c := range curves {
		for _, p := range c.points {
			rate, latency = max(rate, p.rate), max(latency, p.p99)
		}
	}
	step := math.Pow(10, math.Floor(math.Log10(rate)))
	for rate/step < labelled {
		step /= 2
	}
	return scale{step, math.Ceil(rate/step) * step, math.Ceil(math.Log10(latency / plotLeast))}
}

func (s scale) x(rate float64) float64 { return plotLeft + (plotRight-plotLeft)*rate/s.rate }

func (s scale) y(ms float64) float64 {
	return plotBottom - (plotBottom-plotTop)*math.Log10(max(ms, plotLeast)/plotLeast)/s.decades
}

func (s scale) axes(b *strings.Builder) {
	for decade := 0.0; decade <= s.decades; decade++ {
		ms := plotLeast * math.Pow(10, decade)
		y := s.y(ms)
		fmt.Fprintf(b, "  <line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text class=\"note\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			plotLeft, y, plotRight, y, plotLeft-8, y+4, ms)
	}
	for rate := 0.0; rate <= s.rate; rate += s.step {
		x := s.x(rate)
		fmt.Fprintf(b, "  <line class=\"axis\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/><text class=\"note\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			x, plotBottom, x, plotBottom+5, x, plotBottom+20, whole(rate))
	}
	fmt.Fprintf(b, "  <path class=\"axis\" fill=\"none\" d=\"M%d %dV%dH%d\"/>\n", plotLeft, plotTop, plotBottom, plotRight)
	fmt.Fprintf(b, "  <text class=\"text\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">requests due a second</text>\n", (plotLeft+plotRight)/2, plotBottom+44)
	fmt.Fprintf(b, "  <text class=\"text\" transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">latency, ms</text>\n", (plotTop+plotBottom)/2)
}

func (s scale) draw(b *strings.Builder, number int, c curve) {
	for _, line := range []struct {
		class string
		of    func(point) float64
	}{{"p50", func(p point) float64 { return p.p50 }}, {"p99", func(p point) float64 { return p.p99 }}} {
		var places []string
		for _, p := range c.points {
			places = append(places, fmt.Sprintf("%.1f,%.1f", s.x(p.rate), s.y(line.of(p))))
		}
		fmt.Fprintf(b, "  <polyline class=\"line %s c%d\" points=\"%s\"/>\n", line.class, number, strings.Join(places, " "))
		for _, p := range c.points {
			class, radius := fmt.Sprint("f", number), plotMarkKept
			if !p.keptUp {
				class, radius = fmt.Sprint("over c", number), plotMarkOverloaded
			}
			fmt.Fprintf(b, "  <circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"><title>%s at %s a second: %s %s ms</title></circle>\n",
				class, s.x(p.rate), s.y(line.of(p)), radius, c.title, whole(p.rate), line.class, fixed(line.of(p)))
		}
	}
}
