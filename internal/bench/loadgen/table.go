package loadgen

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the result for people.
func (r *Result) WriteTable(w io.Writer) error {
	spread := ""
	if r.Guilds > 1 {
		spread = " of " + grouped(int64(r.Guilds)) + " guilds"
	}
	if r.Active < r.Members {
		spread += ", " + grouped(int64(r.Active)) + " of them active"
	}
	fmt.Fprintf(w, "%s at %s: %s connections, %s members%s (%s), seed %d, %.1f s\n\n", r.Scenario, r.URL,
		grouped(int64(r.Concurrency)), grouped(int64(r.Members)), spread, r.Skew, r.Seed, r.Seconds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "OPERATION\tREQUESTS\tERRORS\tPER SECOND\tP50 MS\tP90 MS\tP99 MS\tP99.9 MS\tMAX MS\t")
	rows := r.Operations
	if len(rows) > 1 {
		rows = append(rows[:len(rows):len(rows)], r.Total)
	}
	for _, m := range rows {
		cells := []string{m.Name, grouped(m.Requests), grouped(m.Failed()), grouped(int64(m.PerSecond + 0.5))}
		for _, ms := range []float64{m.Latency.P50, m.Latency.P90, m.Latency.P99, m.Latency.P999, m.Latency.Max} {
			cells = append(cells, milliseconds(ms))
		}
		fmt.Fprintln(table, strings.Join(cells, "\t")+"\t")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, line := range r.remarks() {
		if _, err := fmt.Fprintf(w, "\n%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// remarks are the sentences below the table.
func (r *Result) remarks() []string {
	var lines []string
	if r.Interrupted {
		lines = append(lines, "Interrupted before its time.")
	}
	if len(r.Total.Errors) > 0 {
		lines = append(lines, "Errors: "+listed(r.Total.Errors)+".")
	}
	if r.Total.Errors[tooMany] > 0 || r.Writers != nil && r.Writers.Errors[tooMany] > 0 {
		lines = append(lines, "429: the service limits its callers; "+limitAdvice+".")
	}
	if r.Open != nil {
		lines = append(lines, r.Open.sentence(r.Total.PerSecond))
	}
	if w := r.Writers; w != nil {
		lines = append(lines, w.sentence())
	}
	if r.Messages != nil {
		lines = append(lines, r.Messages.sentence())
	}
	if v := r.Verification; v != nil {
		lines = append(lines, v.sentence())
	}
	if r.Watched != nil {
		lines = append(lines, r.Watched.sentences()...)
	}
	if r.GeneratorCPU > 0 {
		lines = append(lines, fmt.Sprintf("The load generator used %.2f processors.", r.GeneratorCPU/r.Seconds))
	}
	return lines
}

func (o OpenLoop) sentence(rate float64) string {
	text := fmt.Sprintf("Open loop: %s requests a second were due, %s were answered; latencies count from when a request was due.",
		grouped(int64(o.Asked)), grouped(int64(rate+0.5)))
	if !o.KeptUp {
		text += fmt.Sprintf(" The service did NOT keep up: of %s requests that were due %s were never sent, and no latency holds those.", grouped(o.Due), grouped(o.Unsent))
	}
	return text
}

func (w Writers) sentence() string {
	text := fmt.Sprintf("Beside them %s increments a second of %s asked for: p50 %s ms, p99 %s ms",
		grouped(int64(w.PerSecond+0.5)), grouped(int64(w.Asked)), milliseconds(w.Latency.P50), milliseconds(w.Latency.P99))
	if w.Failed() > 0 {
		text += "; errors: " + listed(w.Errors)
	}
	return text + "."
}

func (v Verification) sentence() string {
	if v.Limited {
		return "NOT verified: " + v.Error + "."
	}
	if err := v.problem(); err != nil {
		return "WRONG: " + err.Error() + "."
	}
	text := fmt.Sprintf("Verified: %s members gained the %s XP that were acknowledged", grouped(int64(v.Members)), grouped(v.Acknowledged))
	if v.Unknown > 0 {
		text += fmt.Sprintf(", and %s of the %s whose outcome is unknown", grouped(v.Gained-v.Acknowledged), grouped(v.Unknown))
	}
	return text + "."
}

// milliseconds keeps three digits.
func milliseconds(ms float64) string {
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 2, 64)
	case ms < 100:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	default:
		return grouped(int64(ms + 0.5))
	}
}

// grouped is n with a comma before each three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
