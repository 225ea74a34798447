package hydrate_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
)

// A guild that another version loaded is neither used nor changed.
func TestAGuildInAnotherFormatIsLeftAlone(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx, g := w.Context(), w.Guild(stores.GuildA)
		w.Create(g, 0, 100)
		meta := "lb:{" + string(g.ID) + "}:meta"
		server, _, _ := strings.Cut(w.Redis.HGet(ctx, meta, "server").Val(), "-f")
		w.Must(w.Redis.HSet(ctx, meta, "format", 9, "server", server+"-f9").Err())
		before := w.Redis.HGetAll(ctx, meta).Val()
		f := &stores.Faults{}
		if err := w.Hydrator(f).Load(ctx, g); !errors.Is(err, hydrate.ErrOtherFormat) {
			t.Errorf("the load: %v, want ErrOtherFormat", err)
		}
		if err := w.Writer("writer", stores.Never, &stores.Faults{}).Flush(ctx); !errors.Is(err, hydrate.ErrOtherFormat) {
			t.Errorf("the last snapshot: %v, want ErrOtherFormat", err)
		}
		if n := f.Count("AbortHydration"); n != 0 {
			t.Errorf("AbortHydration was called %d times, want 0: no lock was taken", n)
		}
		if after := w.Redis.HGetAll(ctx, meta).Val(); !reflect.DeepEqual(after, before) {
			t.Errorf("the guild's meta became %v, want %v", after, before)
		}
		w.NoTraces(g)
	})
}
