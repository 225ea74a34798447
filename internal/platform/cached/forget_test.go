package cached_test

import (
	"testing"
	"testing/synctest"

	"levelboard/internal/platform/cached"
)

func TestALoadFromBeforeForgetIsNotKept(t *testing.T) {
	forget := map[string]func(*cached.Cache[string, int]){
		"Forget":    func(c *cached.Cache[string, int]) { c.Forget("k") },
		"ForgetAll": func(c *cached.Cache[string, int]) { c.ForgetAll() },
	}
	for name, forget := range forget {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newArchive()
				c := cached.New(a.load, cached.Options{Size: 8})
				before := get(t.Context(), c, "k")
				old := <-a.loads
				forget(c)
				old.answer <- answer{value: 1}
				expect(t, "who asked before", <-before, answer{value: 1})

				after := get(t.Context(), c, "k")
				(<-a.loads).answer <- answer{value: 2}
				expect(t, "who asked after", <-after, answer{value: 2})
			})
		})
	}
}

func TestAGetAfterForgetDoesNotJoinTheOldLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, oldFirst := range []bool{true, false} {
			a := newArchive()
			c := cached.New(a.load, cached.Options{Size: 8})
			before := get(t.Context(), c, "k")
			old := <-a.loads
			c.Forget("k")
			after := get(t.Context(), c, "k")
			fresh := <-a.loads // a second load beside the first
			finishOld := func() {
				old.answer <- answer{value: 1}
				expect(t, "who asked before", <-before, answer{value: 1})
			}
			finishFresh := func() {
				fresh.answer <- answer{value: 2}
				expect(t, "who asked after", <-after, answer{value: 2})
			}
			if oldFirst {
				finishOld()
				finishFresh()
			} else {
				finishFresh()
				finishOld()
			}
			v, err := c.Get(t.Context(), "k")
			expect(t, "what is kept", answer{v, err}, answer{value: 2})
		}
	})
}

func TestRenewLoadsKeysInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
		c.Renew("k")
		synctest.Wait()
		select {
		case <-a.loads:
			t.Fatal("a key that nobody asked for was loaded")
		default:
		}
		before := get(t.Context(), c, "k")
		old := <-a.loads
		c.Renew("k") // a load is running
		fresh := <-a.loads
		fresh.answer <- answer{value: 2}
		old.answer <- answer{value: 1}
		expect(t, "who asked before", <-before, answer{value: 1})
		synctest.Wait()
		v, err := c.Get(t.Context(), "k")
		expect(t, "what is kept", answer{v, err}, answer{value: 2})

		c.Renew("k") // a value is cached
		(<-a.loads).answer <- answer{value: 3}
		synctest.Wait()
		v, err = c.Get(t.Context(), "k")
		expect(t, "the value after a change, from memory", answer{v, err}, answer{value: 3})
	})
}

func TestForgetSparesOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
		other := get(t.Context(), c, "other")
		l := <-a.loads
		c.Forget("k")
		l.answer <- answer{value: 7}
		expect(t, "the load of another key", <-other, answer{value: 7})
		v, err := c.Get(t.Context(), "other")
		expect(t, "the other key, from memory", answer{v, err}, answer{value: 7})
	})
}
