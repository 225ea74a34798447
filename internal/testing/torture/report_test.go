package torture

import (
	"fmt"
	"strings"
	"time"
)

const clock = "15:04:05.000"

// historyKept bounds the history of a counter or a member in a long run.
const historyKept = 5000

// event is a line of a member's history.
type event struct {
	began, ended time.Time
	replica      string
	what         string
	outcome      string
	after        string // the member's possible states afterwards
	answered     bool
}

func newEvent(h *harness, what string, a answer, after string) event {
	return event{a.began, a.ended, a.replica, what, a.text, after, a.verdict != unknown && a.verdict != unsent}
}

func (e event) String() string {
	return fmt.Sprintf("%s +%-8v %s  %-34s -> %-40s %s", e.began.Format(clock), e.ended.Sub(e.began).Round(100*time.Microsecond), e.replica, e.what, e.outcome, e.after)
}

// record adds a line to the member's history, and its possible states to its trail.
func (m *member) record(h *harness, what string, a answer) {
	m.note(a.ended, h.floorOf(m.guild, m.user))
	m.remember(newEvent(h, what, a, m.String()))
}

func (m *member) remember(e event) {
	m.history = append(m.history, e)
	m.history = m.history[max(0, len(m.history)-historyKept):]
}

// subject is the member, counter or guild of a violation.
type subject interface {
	events() (name string, history []event)
}

func (m *member) events() (string, []event) {
	return "member " + m.user + " of guild " + m.guild, m.history
}

func (c *counter) events() (string, []event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return "member " + c.user + " of guild " + c.guild + ", which all clients increment", append([]event(nil), c.history...)
}

// violation ends the run, because the service broke a promise. Only the first one is reported.
func (h *harness) violation(about subject, sentence string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != "" {
		return
	}
	var text strings.Builder
	text.WriteString(sentence)
	if about != nil {
		name, history := about.events()
		fmt.Fprintf(&text, "\n\nHistory of %s (%d events; what it may be is last in each line):\n", name, len(history))
		for _, e := range history {
			text.WriteString("  " + e.String() + "\n")
		}
	}
	h.broken = text.String()
	h.halt()
}

// report returns everything needed to understand a violation.
func (h *harness) report() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nSeed %d; again with TORTURE_SEED=%d.\nFaults:\n", h.broken, h.seed, h.seed)
	for _, line := range h.schedule {
		text.WriteString("  " + line + "\n")
	}
	for _, r := range h.replicas {
		fmt.Fprintf(&text, "\nThe end of the log of replica %s:\n%s\n", r.name, r.logTail())
	}
	if h.sentinels != nil {
		fmt.Fprintf(&text, "\nThe ends of the logs of Redis and the sentinels:\n%s", h.sentinels.Logs())
	}
	return text.String()
}
