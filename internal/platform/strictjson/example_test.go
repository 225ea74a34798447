package strictjson_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/platform/strictjson"
)

// A property of several forms is kept as it is, then decoded by the form that it has.
func ExampleDecodeAt() {
	type update struct {
		XP              jsontext.Value            `json:"xp"`
		TriggerCooldown strictjson.Optional[bool] `json:"triggerCooldown"`
	}
	type step struct {
		Increment strictjson.Optional[int64] `json:"increment" bounds:"1..2147483647"`
	}
	read := func(body string) error {
		var u update
		if err := strictjson.Decode([]byte(body), &u); err != nil {
			return err
		}
		if u.XP.Kind() != '{' {
			xp, err := strictjson.Int("xp", u.XP, 0, 2147483647)
			fmt.Println("set to", xp, "cooldown", u.TriggerCooldown.Or(false))
			return err
		}
		var s step
		return strictjson.DecodeAt("xp", u.XP, &s)
	}
	fmt.Println(read(`{"xp":20,"triggerCooldown":true}`))
	fmt.Println(read(`{"xp":{"increment":0}}`))
	fmt.Println(read(`{"xp":{"increment":1,"by":2}}`))
	// Output:
	// set to 20 cooldown true
	// <nil>
	// xp.increment must be a whole number from 1 to 2147483647
	// "by" is not a property of xp
}
