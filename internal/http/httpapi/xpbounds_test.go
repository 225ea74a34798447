package httpapi

import (
	"fmt"
	"reflect"
	"testing"

	"levelboard/internal/domain/level"
)

// A struct tag cannot use a constant, so the tags that bound XP repeat level.MaxXP.
func TestTagsRepeatTheMaximumXP(t *testing.T) {
	for _, c := range []struct {
		body  any
		field string
		least int
	}{
		{createRequest{}, "XP", 0},
		{relativeXP{}, "Increment", 1},
		{relativeXP{}, "Decrement", 1},
		{putMemberRequest{}, "XP", 0},
	} {
		body := reflect.TypeOf(c.body)
		field, _ := body.FieldByName(c.field)
		if got, want := field.Tag.Get("bounds"), fmt.Sprintf("%d..%d", c.least, level.MaxXP); got != want {
			t.Errorf("the bounds of %v.%s are %q, want %q", body, c.field, got, want)
		}
	}
}
