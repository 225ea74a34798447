package guild_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

// The highest number of items is accepted. One more is refused before the rest is read.
func TestListsAreBounded(t *testing.T) {
	for path, list := range map[string]struct {
		most              int
		begin, item, ends string // %d in item counts from 100
	}{
		"adminIds":               {1000, `"adminIds":[`, `"200000000000000%d"`, `]`},
		"ignoredChannelIds":      {1000, `"ignoredChannelIds":[`, `"200000000000000%d"`, `]`},
		"ignoredRoleIds":         {1000, `"ignoredRoleIds":[`, `"200000000000000%d"`, `]`},
		"ignoredUserIds":         {1000, `"ignoredUserIds":[`, `"200000000000000%d"`, `]`},
		"multipliers":            {250, `"multipliers":[`, `{"type":"Role","multiplier":%d.0e-3,"targets":[]}`, `]`},
		"multipliers[0].targets": {500, `"multipliers":[{"type":"Channel","multiplier":1,"targets":[`, `{"id":"200000000000000%d","name":"x"}`, `]}]`},
		"multipliers[1].targets": {500, `"multipliers":[{"type":"Channel","multiplier":1,"targets":[]},{"type":"Role","multiplier":1,"targets":[`, `{"id":"200000000000000%d","name":"x"}`, `]}]`},
		"seasons":                {50, `"seasons":[`, `{"id":"s%[1]d","name":"x","start":"2%[1]d-01-01","end":"2%[1]d-12-31"}`, `]`},
		"roleRewards":            {250, `"roleRewards":[`, `{"level":%d,"roles":[]}`, `]`},
		"roleRewards[0].roles":   {250, `"roleRewards":[{"level":1,"roles":[`, `{"id":"200000000000000%d","name":"x"}`, `]}]`},
	} {
		items := make([]string, list.most)
		for i := range items {
			items[i] = fmt.Sprintf(list.item, 100+i)
		}
		all := strings.Join(items, ",")
		if _, err := guild.Parse(gid, []byte(with(list.begin+all+list.ends))); err != nil {
			t.Errorf("%s: %d items are refused: %v", path, list.most, err)
		}
		want := fmt.Sprintf("%s must have at most %d items", path, list.most)
		for _, more := range []string{"," + items[0], `,null,{"more":1}`} {
			_, err := guild.Parse(gid, []byte(with(list.begin+all+more+list.ends)))
			if !fault.Is(err, fault.Invalid) || fault.From(err).Message != want {
				t.Errorf("%d items and %s give %v, want %s", list.most, more, err, want)
			}
		}
	}
}
