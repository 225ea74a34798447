package app_test

import (
	"reflect"
	"testing"
)

// wants fails unless the next event has this name and exactly this data.
func (f *follower) wants(name string, data object) streamed {
	f.t.Helper()
	e := f.take()
	if want := decoded(f.t, []byte(jsonText(f.t, data))); e.name != name || e.id == "" || !reflect.DeepEqual(decoded(f.t, []byte(e.data)), want) {
		f.t.Fatalf("%s %s came, want %s %s", e.name, e.data, name, indented(want))
	}
	return e
}

// wantedEvent is the event that one step must make.
type wantedEvent struct {
	name string
	data object
}

// lifeOf takes a member through everything that changes levels and presence, in a guild with twoRewards and 1000 XP a message. It returns
// the event that each of these changes must make.
func (s *service) lifeOf(key, g, u string) []wantedEvent {
	two, five := twoRewardRoles[0], twoRewardRoles[1]
	none, both := roles{}, roles{two, five}
	moved := func(name string, level, previous, xp int, add, remove roles) wantedEvent {
		return wantedEvent{name, object{"userId": u, "level": level, "previousLevel": previous, "xp": xp, "addRoles": add, "removeRoles": remove}}
	}
	// by is a level-up by a message in channel; POST and bulk PUT make silent ones.
	by := func(channel any, silent bool, e wantedEvent) wantedEvent {
		if e.data["channelId"] = channel; silent {
			e.data["silent"] = true
		}
		return e
	}
	returned := func(level, xp int, add, remove roles) wantedEvent {
		return wantedEvent{"returned", object{"userId": u, "level": level, "xp": xp, "addRoles": add, "removeRoles": remove}}
	}
	removed := wantedEvent{"removed", object{"userId": u, "removeRoles": both}}

	s.create(key, g, u, 4150)
	s.patch(key, g, u, object{"decrement": 3000})
	s.patch(key, g, u, object{"decrement": 1}) // no level changes
	s.patch(key, g, u, 150)
	for range 2 { // the second is a repeat
		s.sendPut(key, g, "set", []object{given(u, 0, nil)}, named("down"+u)).Want(s.t, 200)
	}
	s.put(key, g, "add", given(u, 100, nil))
	s.put(key, g, "higher", given(u, 50, nil))
	s.put(key, g, "missing", given(u, 5000, nil))
	s.put(key, g, "higher", given(u, 300, nil))
	s.put(key, g, "set", given(u, 250, nil))
	all := []wantedEvent{
		by(nil, true, moved("levelup", 10, 0, 4150, roles{five}, roles{two})), moved("leveldown", 5, 10, 1150, roles{five}, roles{two}), moved("leveldown", 2, 5, 150, roles{two}, roles{five}),
		moved("leveldown", 0, 2, 0, none, both), by(nil, true, moved("levelup", 1, 0, 100, none, both)), by(nil, true, moved("levelup", 3, 1, 300, roles{two}, roles{five})),
		moved("leveldown", 2, 3, 250, roles{two}, roles{five}),
	}

	s.leave(key, g, u)
	s.setPresence(key, g, false, 0, nil, u)
	s.put(key, g, "set", given(u, 4150, nil)) // no event while the member is absent
	s.comeBack(key, g, u)
	s.setPresence(key, g, true, 0, nil, u)
	s.leave(key, g, u)
	s.award(key, g, message(u, object{"channelId": chanA})) // the channel is ignored
	s.award(key, g, message(u, nil), message(u, nil))
	all = append(all, removed, returned(10, 4150, roles{five}, roles{two}), removed, returned(10, 4150, roles{five}, roles{two}),
		by(chanD, false, moved("levelup", 11, 10, 5150, roles{five}, roles{two})))

	for range 2 {
		s.Do("DELETE", memberPath(g, u), key, nil, named("delete"+u)).Want(s.t, 204)
	}
	s.award(key, g, message(u, nil)) // creates a new entry
	s.leave(key, g, u)
	s.Do("DELETE", memberPath(g, u), key, nil).Want(s.t, 204) // already removed
	s.put(key, g, "missing", given(u, 100, nil))
	s.patch(key, g, u, object{"decrement": 1})
	return append(all, removed, by(chanD, false, moved("levelup", 5, 0, 1000, roles{five}, roles{two})), removed, by(nil, true, moved("levelup", 1, 0, 100, none, both)),
		moved("leveldown", 0, 1, 99, none, both))
}

var twoRewardRoles = roles{"300000000000000001", "300000000000000002"}

func (s *service) guildOfLives() string {
	s.t.Helper()
	return s.guild(exactly(1000, object{"roleRewards": twoRewards, "ignoredChannelIds": []string{chanA}}))
}

// eachChangeIsOneEvent follows a member through lifeOf. A client that resumes after any event gets each later one once.
func eachChangeIsOneEvent(t *testing.T, s *service) {
	g, u, last := s.guildOfLives(), newID(), newID()
	key := s.key(g)
	f := s.follow(key, g, "")
	want := append(s.lifeOf(key, g, u), wantedEvent{"levelup", object{"userId": last, "level": 1, "previousLevel": 0, "xp": 100, "addRoles": roles{}, "removeRoles": twoRewardRoles, "channelId": nil, "silent": true}})
	s.create(key, g, last, 100)
	ids := []string{f.last}
	for _, e := range want {
		ids = append(ids, f.wants(e.name, e.data).id)
	}
	for i, id := range ids[:len(ids)-1] {
		f := s.follow(key, g, id)
		if f.first.name != "" {
			t.Fatalf("a stream resumed after event %d began with %+v, want no reset", i, f.first)
		}
		for _, e := range want[i:] {
			f.wants(e.name, e.data)
		}
		f.cancel()
	}
}
