package loadgen

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
)

const limitAdvice = "start it with LEVELBOARD_RATE_LIMIT_IDENTITY=0, and leave --key-limit out, to measure the service and not the limit"

// WriteTable writes the result for people.
func (r *Result) WriteTable(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s at %s: %s, %s (%s active, %s) of %s, seed %d, %.1f s\n\n", r.Scenario, r.URL, counted(r.Concurrency, "connection"),
		counted(r.Members, "member"), humanize.Comma(int64(r.Active)), r.Skew, counted(r.Guilds, "guild"), r.Seed, r.Seconds)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "OPERATION\tREQUESTS\tERRORS\tPER SECOND\tP50 MS\tP90 MS\tP99 MS\tP99.9 MS\tMAX MS\t")
	rows := r.Operations
	if len(rows) > 1 {
		rows = append(rows[:len(rows):len(rows)], r.Total)
	}
	for _, m := range rows {
		l := m.Latency
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", m.Name, humanize.Comma(m.Requests), humanize.Comma(m.Failed()), humanize.Comma(int64(m.PerSecond+0.5)),
			l.P50, l.P90, l.P99, l.P999, l.Max)
	}
	_ = table.Flush()
	for _, line := range r.remarks() {
		fmt.Fprintf(&text, "\n%s\n", line)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// remarks are the sentences below the table.
func (r *Result) remarks() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.Interrupted {
		add("Interrupted before its time.")
	}
	if len(r.Total.Errors) > 0 {
		add("Errors: %s.", listed(r.Total.Errors))
	}
	if r.Total.Errors["429"] > 0 || r.Writers != nil && r.Writers.Errors["429"] > 0 {
		add("429: the service limits its callers; %s.", limitAdvice)
	}
	if o := r.Open; o != nil {
		add("Open loop: %s requests a second were due, %s were answered; latencies count from when a request was due.",
			humanize.Comma(int64(o.Asked)), humanize.Comma(int64(r.Total.PerSecond+0.5)))
		if !o.KeptUp {
			add("The service did NOT keep up: of %s requests that were due %s were never sent, and no latency holds those.", humanize.Comma(o.Due), humanize.Comma(o.Unsent))
		}
	}
	if w := r.Writers; w != nil {
		add("Beside them %s increments a second of %s asked for: p50 %.2f ms, p99 %.2f ms, %s errors.",
			humanize.Comma(int64(w.PerSecond+0.5)), humanize.Comma(int64(w.Asked)), w.Latency.P50, w.Latency.P99, humanize.Comma(w.Failed()))
	}
	if m := r.Messages; m != nil {
		add("Messages: %s a second, %s in all (batch %s).", humanize.Comma(int64(m.PerSecond+0.5)), humanize.Comma(m.Messages), m.Batch)
	}
	if v := r.Verification; v != nil {
		if err := v.problem(); err != nil {
			add("WRONG: %s.", err)
		} else {
			add("Verified: %s members gained the %s XP that were acknowledged, and %s of the %s XP whose outcome is unknown.",
				humanize.Comma(int64(v.Members)), humanize.Comma(v.Acknowledged), humanize.Comma(v.Gained-v.Acknowledged), humanize.Comma(v.Unknown))
		}
	}
	if w := r.Watched; w != nil {
		add("At most, the oldest change without a snapshot was %.1f s old, and %s members waited for one (%d scrapes, %d of them failed).",
			w.MaxOldestUnsaved, humanize.Comma(int64(w.MaxBacklog)), w.Scrapes, w.Failures)
	}
	return lines
}

// counted is "1 member" or "1,000 members".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return humanize.Comma(int64(n)) + " " + what
}
