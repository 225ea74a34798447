package loadgen

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
)

func trafficOf(seed uint64, skew Skew, batch Batch) *traffic {
	return newTraffic(rand.New(rand.NewPCG(seed, 0)), 100_000, skew, batch)
}

func TestTrafficHasTheShapeOfACommunity(t *testing.T) {
	for skew, bounds := range map[Skew][2]int{Zipf: {25_000, 80_000}, Uniform: {300, 5000}} {
		few, withUser, rooms, runs := 0, 0, map[int]int{}, 0
		traffic, last := trafficOf(1, skew, "100"), map[int]int{}
		for range 1000 {
			said := traffic.next(nil)
			if len(said) != 100 {
				t.Fatalf("%d messages in a call", len(said))
			}
			for _, m := range said {
				if m.member < 0 || m.member >= 100_000 || m.channel < 0 || m.channel >= channels {
					t.Fatalf("%+v", m)
				}
				if m.member < 1000 {
					few++
				}
				if m.data != dataAbsent {
					withUser++
				}
				if seen, ok := last[m.member]; ok && seen == m.channel {
					runs++
				}
				rooms[m.channel]++
				last[m.member] = m.channel
			}
		}
		if few < bounds[0] || few > bounds[1] {
			t.Errorf("%s: the first hundredth of the members wrote %d of 100,000 messages", skew, few)
		}
		if withUser < 9000 || withUser > 11_000 || len(rooms) < 200 {
			t.Errorf("%s: %d messages with user data, %d channels", skew, withUser, len(rooms))
		}
		if runs < 50_000 {
			t.Errorf("%s: only %d of 100,000 messages follow one of the same member in the same channel", skew, runs)
		}
	}
}

func TestMixedBatchesFollowTheDay(t *testing.T) {
	traffic := trafficOf(1, Zipf, Mixed)
	night, noon := 0, 0
	for call := range dayCalls {
		n := len(traffic.next(nil))
		if n < 1 || n > maxBatch {
			t.Fatalf("%d messages in a call", n)
		}
		if call < 100 {
			night += n
		}
		if call >= dayCalls/2 && call < dayCalls/2+100 {
			noon += n
		}
	}
	if night > 300 || noon < 20*night {
		t.Errorf("%d messages at night, %d in the middle of the day", night, noon)
	}
}

func TestASeedMakesTheSameCalls(t *testing.T) {
	first, again, other := trafficOf(1, Zipf, Mixed), trafficOf(1, Zipf, Mixed), trafficOf(2, Zipf, Mixed)
	differ := false
	for range 300 {
		call := first.next(nil)
		if !slices.Equal(call, again.next(nil)) {
			t.Fatal("the same seed made other calls")
		}
		differ = differ || !slices.Equal(call, other.next(nil))
	}
	if !differ {
		t.Error("another seed made the same calls")
	}
}

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

func TestBatch(t *testing.T) {
	for batch, want := range map[Batch]bool{"1": true, "10": true, "1000": true, "mixed": true, "0": false, "1001": false, "": false, "+5": false, "x": false} {
		if batch.Valid() != want {
			t.Errorf("%q is valid: %v", batch, !want)
		}
	}
}
