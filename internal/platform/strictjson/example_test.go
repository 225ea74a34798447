package strictjson_test

import (
	"fmt"

	"levelboard/internal/platform/strictjson"
)

// A property that has several forms is kept raw, and then decoded in the form it has.
func ExampleValue() {
	type update struct {
		XP              strictjson.Value          `json:"xp" bounds:"0..2147483647"`
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
			var xp int64
			err := u.XP.Decode(&xp)
			fmt.Println("set to", xp, "cooldown", u.TriggerCooldown.Or(false))
			return err
		}
		var s step
		return u.XP.Decode(&s)
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
