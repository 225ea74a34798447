package loadgen

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestACallIsWhatTheServiceReads(t *testing.T) {
	var call struct {
		Messages []struct {
			UserID, ChannelID string
			ParentChannelID   *string
			RoleIDs           []string
			User              *struct{ Avatar, Discriminator, GlobalName, Username string }
		}
	}
	body := appendCall(nil, []spoken{{member: 5, channel: 12, data: dataKnown}, {member: 99_999, channel: 10}})
	if err := json.Unmarshal(body, &call); err != nil {
		t.Fatal(err)
	}
	first, second := call.Messages[0], call.Messages[1]
	if first.UserID != "9100000000000000005" || first.ChannelID != "9200000000000000012" || *first.ParentChannelID != "9205000000000000012" || first.User.Username != "bench.member.000005" {
		t.Errorf("%s", body)
	}
	if second.UserID != "9100000000000099999" || second.ParentChannelID != nil || second.User != nil {
		t.Errorf("%s", body)
	}
	held := map[int]bool{}
	for member := range 1000 {
		var ids []string
		if err := json.Unmarshal(appendCall(nil, []spoken{{member: member}}), &call); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, call.Messages[0].RoleIDs...)
		slices.Sort(ids)
		if n := len(ids); n != len(slices.Compact(ids)) {
			t.Errorf("member %d has a role twice", member)
		}
		held[len(ids)] = true
	}
	if len(held) != mostHeld {
		t.Errorf("members have so many roles: %v", held)
	}
}
