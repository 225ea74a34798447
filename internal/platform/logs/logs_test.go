package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"levelboard/internal/platform/logs"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// book is a log in memory with its clock.
type book struct {
	bytes.Buffer
	now time.Time
}

func (b *book) logger() *slog.Logger {
	b.now = time.Unix(1000, 0)
	plain := slog.NewTextHandler(&b.Buffer, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	return slog.New(logs.NewHandler(plain, func() time.Time { return b.now }))
}

func (b *book) want(t *testing.T, want ...string) {
	t.Helper()
	if got := b.String(); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("the log is\n%swant\n%s", got, strings.Join(want, "\n"))
	}
	b.Reset()
}

func TestLinesHaveTheirContextsAttributes(t *testing.T) {
	var b book
	log := b.logger()
	request := logs.With(t.Context(), slog.String("requestId", "A"))
	deeper := logs.With(request, slog.String("traceId", "B"))
	log.WarnContext(request, "one", "guild", 1)
	log.DebugContext(deeper, "two")
	log.InfoContext(t.Context(), "three")
	log.Warn("four")
	log.With("part", "x").WarnContext(request, "five")
	log.WithGroup("g").With("a", 1).WarnContext(request, "six", "b", 2)
	b.want(t, `level=WARN msg=one guild=1 requestId=A`, `level=DEBUG msg=two requestId=A traceId=B`, `level=INFO msg=three`,
		`level=WARN msg=four`, `level=WARN msg=five part=x requestId=A`, `level=WARN msg=six g.a=1 g.b=2 g.requestId=A`)
}

// A derived context does not get the attributes of its sibling.
func TestContextsDoNotShareAttributes(t *testing.T) {
	parent := logs.With(context.Background(), slog.String("a", "1"))
	one := logs.With(parent, slog.String("b", "2"))
	two := logs.With(parent, slog.String("c", "3"))
	if got := logs.Attrs(one); len(got) != 2 || got[1].Key != "b" {
		t.Errorf("the first context has the attributes %v, want its own b", got)
	}
	if got := logs.Attrs(two); len(got) != 2 || got[1].Key != "c" {
		t.Errorf("the second context has the attributes %v, want its own c", got)
	}
}

func TestRepeatedLinesAreLimited(t *testing.T) {
	var b book
	log := b.logger()
	repeat := func(n int) int {
		for i := range n {
			log.Warn("away", "i", i)
		}
		return strings.Count(b.String(), "\n")
	}
	if n := repeat(100); n != 10 || strings.Contains(b.String(), "notLoggedBefore") {
		t.Errorf("%d of 100 equal lines were written, want 10:\n%s", n, b.String())
	}
	b.Reset()
	// Another message, and the same message of another level, are limited separately.
	log.Warn("back")
	log.Error("away")
	b.want(t, "level=WARN msg=back", "level=ERROR msg=away")

	b.now = b.now.Add(999 * time.Millisecond)
	if n := repeat(5); n != 0 {
		t.Errorf("%d lines were written before a second passed, want 0", n)
	}
	b.now = b.now.Add(time.Millisecond)
	repeat(3)
	b.want(t, "level=WARN msg=away i=0 notLoggedBefore=95")
	b.now = b.now.Add(time.Hour)
	if n := repeat(100); n != 10 || !strings.Contains(b.String(), "i=0 notLoggedBefore=2\n") {
		t.Errorf("after an hour %d of 100 lines were written, want 10 and the number left out:\n%s", n, b.String())
	}
}

func TestDebugLinesAreNotLimited(t *testing.T) {
	var b book
	log := b.logger()
	for range 100 {
		log.Debug("request")
	}
	if n := strings.Count(b.String(), "\n"); n != 100 {
		t.Errorf("%d of 100 debug lines were written, want all", n)
	}
}

// Loggers derived from one share its limit, because each part of the service has its own logger.
func TestDerivedLoggersShareTheLimit(t *testing.T) {
	var b book
	log := b.logger()
	for i := range 100 {
		log.With("part", i).WithGroup("g").Warn("away", "i", i)
	}
	if n := strings.Count(b.String(), "\n"); n != 10 {
		t.Errorf("%d of 100 lines were written, want 10", n)
	}
}

// With any messages memory is bounded, and the first line of each message is written.
func TestTheFirstLineOfManyMessagesIsWritten(t *testing.T) {
	var b book
	log := b.logger()
	for i := range 5000 {
		log.Warn(strconv.Itoa(i))
	}
	if n := strings.Count(b.String(), "\n"); n != 5000 {
		t.Errorf("%d of 5000 different lines were written, want all", n)
	}
}

func TestHandlerKeepsTheRulesOfSlog(t *testing.T) {
	var written bytes.Buffer
	var now time.Time // a second between lines, because all are alike
	handler := logs.NewHandler(slog.NewJSONHandler(&written, nil), func() time.Time { now = now.Add(time.Second); return now })
	err := slogtest.TestHandler(handler, func() (found []map[string]any) {
		for line := range bytes.Lines(written.Bytes()) {
			var one map[string]any
			if err := json.Unmarshal(line, &one); err != nil {
				t.Fatal(err)
			}
			found = append(found, one)
		}
		return found
	})
	if err != nil {
		t.Error(err)
	}
}
