package storetest_test

import (
	"errors"
	"reflect"
	"testing"

	"levelboard/internal/store/storetest"
	"levelboard/internal/usecase/admin"
	"levelboard/internal/usecase/guildsettings"
	"levelboard/internal/usecase/ownkeys"
)

var errBroken = errors.New("broken on demand")

// Every method must break, so that a method that is new to these use cases is not forgotten.
func TestEveryMethodFailsOnDemand(t *testing.T) {
	// Without an archive inside, a method that is passed on panics.
	f := storetest.NewFaultyArchive(nil)
	f.Fail(storetest.AllMethods, errBroken)
	for _, methods := range []reflect.Type{
		reflect.TypeFor[admin.Archive](), reflect.TypeFor[ownkeys.Archive](), reflect.TypeFor[guildsettings.Archive](),
	} {
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
}
