package loadgen

import (
	"slices"
	"testing"
)

func result(member, more string) string {
	return `{"userId":"91000000000000000` + member + `",` + more + `,"addRoles":[],"removeRoles":["9210000000000000041"]}`
}

func TestOutcomeOfAnAnswer(t *testing.T) {
	const grew, silent = `"gained":20,"xp":170,"level":2,"messageCount":8,"leveledUp":true`, `"gained":0,"xp":170,"level":2,"messageCount":9,"leveledUp":false`
	three := `{"results":[` + result("07", grew) + "," + result("12", silent) + "," + result("07", grew) + `]}`
	for name, test := range map[string]struct {
		body    string
		authors []int
		want    bool
	}{
		"as it should be":       {three, []int{7, 12, 7}, true},
		"with spaces after":     {three + "\n", []int{7, 12, 7}, true},
		"another order":         {three, []int{12, 7, 7}, false},
		"one too many":          {three, []int{7, 12}, false},
		"one too few":           {three, []int{7, 12, 7, 3}, false},
		"a user who is no one":  {`{"results":[` + result("99", grew) + `]}`, []int{7}, false},
		"no gain":               {`{"results":[` + result("07", `"xp":5,"leveledUp":false`) + `]}`, []int{7}, false},
		"a gain below nothing":  {`{"results":[` + result("07", `"gained":-1,"leveledUp":false`) + `]}`, []int{7}, false},
		"a gain of many digits": {`{"results":[` + result("07", `"gained":12345678901,"leveledUp":false`) + `]}`, []int{7}, false},
		"no level-up":           {`{"results":[` + result("07", `"gained":1`) + `]}`, []int{7}, false},
		"cut off":               {three[:len(three)/2], []int{7, 12, 7}, false},
		"nothing":               {"", []int{7}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var o outcome
			if got := o.read([]byte(test.body), test.authors, 50); got != test.want {
				t.Fatalf("read: %v", got)
			}
			if test.want && (!slices.Equal(o.gained, []int64{20, 0, 20}) || o.sum != 40 || o.gaining != 2 || o.levelUps != 2) {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestDistinctMembersOfACall(t *testing.T) {
	var d distinct
	many := make([]int, MaxBatch)
	for i := range many {
		many[i] = i * 997
	}
	for _, test := range []struct {
		members []int
		want    int
	}{{[]int{5}, 1}, {[]int{5, 5, 0, 5, 0}, 2}, {many, MaxBatch}, {many[:10], 10}, {nil, 0}} {
		if got := d.count(test.members); got != test.want {
			t.Errorf("%d of %d members are different, want %d", got, len(test.members), test.want)
		}
	}
}
