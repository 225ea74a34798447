package importer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// target records the calls of an import.
type target struct {
	asked  []string
	begin  importer.Begin
	sizes  []int
	names  []string
	xp     int64
	failed int // the number of puts that still fail
	busy   bool
}

var errTarget = errors.New("the target has failed")

func (g *target) Begin(_ context.Context, b importer.Begin) (importer.Begun, error) {
	g.asked, g.begin = append(g.asked, "begin"), b
	return importer.Begun{ID: "i", Checkpoint: "c"}, nil
}

func (g *target) TakeSettings(_ context.Context, properties []byte) error {
	g.asked = append(g.asked, "settings "+string(properties))
	return nil
}

func (g *target) Put(_ context.Context, call importer.Call) (done importer.Result, busy bool, err error) {
	g.names = append(g.names, call.Name)
	if g.failed > 0 {
		g.failed--
		return done, g.busy, errTarget
	}
	g.sizes = append(g.sizes, len(call.Members))
	for _, m := range call.Members {
		g.xp += int64(m.XP)
		done.Count(leaderboard.Created)
	}
	return done, false, nil
}

func (g *target) Finish(_ context.Context, importID string, members int) error {
	g.asked = append(g.asked, fmt.Sprint("finish ", importID, " ", members))
	return nil
}

func imports(t *testing.T, c importer.Choice, content string) *importer.Import {
	t.Helper()
	in, err := importer.Read(t.Context(), []importer.File{file("a", content)}, settings(t), c, &memory{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAnImportIsAppliedInCalls(t *testing.T) {
	in := imports(t, importer.Choice{Mode: leaderboard.PutAdd, Settings: true}, `{"players":[`+repeat(2001, func(i int) string {
		return `{"id":"` + user(i) + `","xp":1,"level":0,"username":"a"}`
	})+`]}`)
	g, wrote := &target{}, []int(nil)
	done, checkpoint, err := in.Apply(t.Context(), g, importer.ApplyOptions{
		By: "test", Again: true, Wrote: func(done importer.Result) { wrote = append(wrote, done.Written()) },
	})
	if err != nil || checkpoint != "c" || done.Created != 2001 || !slices.Equal(g.sizes, []int{1000, 1000, 1}) || !slices.Equal(wrote, []int{1000, 2000, 2001}) || g.xp != 2001 {
		t.Errorf("applied %+v (%v) with checkpoint %q, in calls of %v, progress %v, want 2001 created in calls of 1000, 1000 and 1",
			done, err, checkpoint, g.sizes, wrote)
	}
	if !slices.Equal(g.asked, []string{"begin", `settings {"curve":"mee6"}`, "finish i 2001"}) || !slices.Equal(g.names, []string{"i-0", "i-1", "i-2"}) {
		t.Errorf("the calls are %q with the names %q, want begin, settings, finish and i-0 to i-2", g.asked, g.names)
	}
	if len(g.begin.Files) != 64 || !g.begin.Again || len(g.begin.Plan) != 64 {
		t.Errorf("the import began with %+v, want both hashes and again", g.begin)
	}
}

// Names that JSON escapes take six times as many bytes.
func TestCallsStayBelowAMebibyte(t *testing.T) {
	name := strings.Repeat(`\u0001`, 250)
	in := imports(t, importer.Choice{Mode: leaderboard.PutSet}, `[`+repeat(1000, func(i int) string {
		return `{"userId":"` + user(i) + `","xp":1,"messageCount":1,"user":{"username":"` + name + `"}}`
	})+`]`)
	g := &target{}
	if _, _, err := in.Apply(t.Context(), g, importer.ApplyOptions{}); err != nil || len(g.sizes) != 2 || g.sizes[0] > 1<<20/1500 || g.begin != (importer.Begin{}) {
		t.Errorf("applying (%v) made calls of %v members, beginning with %+v, want two calls below 1 MiB", err, g.sizes, g.begin)
	}
}

func TestACallToABusyTargetIsRetried(t *testing.T) {
	for _, c := range []struct {
		failed, asked int
		busy          bool
	}{{5, 6, true}, {6, 6, true}, {1, 1, false}} {
		synctest.Test(t, func(t *testing.T) {
			g := &target{failed: c.failed, busy: c.busy}
			_, checkpoint, err := imports(t, importer.Choice{Mode: leaderboard.PutSet}, "id,xp\n"+user(1)+",5\n").Apply(t.Context(), g, importer.ApplyOptions{})
			if len(g.names) != c.asked || g.names[0] != g.names[len(g.names)-1] || (err == nil) != (c.asked > c.failed) || err != nil && !errors.Is(err, errTarget) || checkpoint != "c" {
				t.Errorf("case %+v: %v after the calls %q", c, err, g.names)
			}
		})
	}
}

// Without members there is nothing to import and no checkpoint, unless --settings imports the file's settings.
func TestAnImportOfNothingIsRefused(t *testing.T) {
	for content, says := range map[string]string{
		"id,xp\n":                      "the files have no members",
		"id,xp\n12,5\n":                "the user id is not 17 to 19 digits",
		"id,xp\n" + user(1) + ",5\n":   "below level 3",
		`{"players":[],"guild":{}}`:    "the files have no members",
		`{"levels":[{"userId":"12"}]}`: "the user id is not 17 to 19 digits",
	} {
		g := &target{}
		_, checkpoint, err := imports(t, importer.Choice{Mode: leaderboard.PutSet, MinLevel: 3}, content).Apply(t.Context(), g, importer.ApplyOptions{})
		if f := fault.From(err); f == nil || f.Code != fault.Invalid || !strings.Contains(f.Message, says) || checkpoint != "" || g.asked != nil {
			t.Errorf("importing %q: %v after %q, want fault.Invalid with %q and no call", content, err, g.asked, says)
		}
	}
	g := &target{}
	_, _, err := imports(t, importer.Choice{Mode: leaderboard.PutSet, Settings: true}, `{"players":[]}`).Apply(t.Context(), g, importer.ApplyOptions{})
	if err != nil || !slices.Equal(g.asked, []string{"begin", `settings {"curve":"mee6"}`, "finish i 0"}) {
		t.Errorf("importing only settings: %v after %q, want begin, settings and finish", err, g.asked)
	}
}

func TestReadingStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := importer.Read(ctx, []importer.File{file("a", "id,xp\n"+user(1)+",5\n")}, settings(t), importer.Choice{}, &memory{}); !errors.Is(err, context.Canceled) {
		t.Errorf("reading with a cancelled context: %v, want context.Canceled", err)
	}
}
