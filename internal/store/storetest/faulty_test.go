package storetest_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"levelboard/internal/store/storetest"
)

var errBroken = errors.New("broken on demand")

// Every method must break, so that a method that is new to archives is not forgotten.
func TestEveryMethodFailsOnDemand(t *testing.T) {
	// Without an archive inside, a method that is passed on panics.
	f := storetest.NewFaultyArchive(nil)
	f.Fail(storetest.AllMethods, errBroken)
	methods := reflect.TypeFor[storetest.ArchiveStore]()
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		t.Run(m.Name, func(t *testing.T) {
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for j := 1; j < m.Type.NumIn(); j++ {
				args = append(args, reflect.Zero(m.Type.In(j)))
			}
			answers := reflect.ValueOf(f).MethodByName(m.Name).Call(args)
			if err := answers[len(answers)-1].Interface(); err != errBroken {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFailuresBeforeAndAfterTheWork(t *testing.T) {
	inner := storetest.SQLite(t)
	f := storetest.NewFaultyArchive(inner)
	take := func(holder string) error {
		_, err := f.AcquireLease(context.WithoutCancel(t.Context()), holder, time.Hour)
		return err
	}
	f.Fail("AcquireLease", errBroken)
	if err := take("first"); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	f.Fail("AcquireLease", nil)
	f.FailAfter("AcquireLease", errBroken)
	if err := take("second"); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	f.FailAfter("AcquireLease", nil)
	if err := take("second"); err != nil {
		t.Errorf("mended, and the second holder had it: %v", err)
	}
	if err := take("first"); err == nil {
		t.Error("the lost answer was to a call that did nothing")
	}
	if n := f.Calls("AcquireLease"); n != 4 {
		t.Errorf("%d calls", n)
	}
}
