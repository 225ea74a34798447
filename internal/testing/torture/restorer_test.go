package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	restoreGuild   = "100000000000000003"
	restoreMembers = 40
	keptAtMost     = 6
	// none is the value of the guild without members.
	none = -1
	// ghost is hidden before there is any fault, changed with the others, and never seen.
	ghost = "500000000000000999"
)

// restorer owns a guild whose members all have the same XP. Each change sets all of them in one step, with checkpoints, restores and resets in
// between. A read that shows two values, or a value of an earlier incarnation, is a violation.
type restorer struct {
	*client
	users  []string
	serial int64          // XP of the last change; each value belongs to one change
	may    map[int64]bool // the possible current values
	since  map[int64]bool // the possible values since the last restore or reset, to which Redis may go back
	unsure time.Time      // end of the last change without an answer
	kept   map[string]map[int64]bool
	did    struct{ changes, restores int }
	log    []event
}

func newRestorer(h *harness) *restorer {
	r := &restorer{
		client: &client{h: h, name: "restorer", rng: h.stream(restorerStream)},
		may:    map[int64]bool{none: true}, since: map[int64]bool{none: true}, kept: map[string]map[int64]bool{},
	}
	for i := range restoreMembers {
		r.users = append(r.users, strconv.Itoa(500000000000000000+i))
	}
	h.must("PUT", "/admin/guilds/"+restoreGuild, h.guildDocument("Restore", false))
	h.must("PUT", "/admin/keys/"+h.keyID+"/guilds/"+restoreGuild, nil)
	h.must("PUT", hiddenPath(restoreGuild), map[string]any{"hidden": true, "userIds": []string{ghost}})
	return r
}

func (r *restorer) run() {
	for r.h.running() && r.step() {
		r.h.pause(time.Duration(r.rng.IntN(20)) * time.Millisecond)
	}
}

// step reports whether the restorer can continue. It waits for a change with an unknown outcome.
func (r *restorer) step() bool {
	if !r.unsure.IsZero() {
		r.read()
		return true
	}
	switch n := r.rng.IntN(100); {
	case n < 25:
		r.read()
	case n < 60:
		r.set()
	case n < 80:
		return r.keep()
	case n < 96 && len(r.kept) > 0:
		ids := slices.Sorted(maps.Keys(r.kept))
		one := ids[r.rng.IntN(len(ids))]
		return r.replace("/checkpoints/"+one+"/restore", r.kept[one])
	case n >= 96:
		return r.replace("/reset", map[int64]bool{none: true})
	}
	return true
}

// set gives all members a new value. With a key it repeats the change until it is answered.
func (r *restorer) set() {
	r.serial++
	value, key := r.serial, ""
	if r.rng.IntN(6) > 0 { // without a key, step waits for an unknown outcome
		key = r.newKey()
	}
	var members []map[string]any
	for _, u := range append(r.users[:len(r.users):len(r.users)], ghost) {
		members = append(members, map[string]any{"userId": u, "xp": value})
	}
	for attempt := 1; ; attempt++ {
		r.h.gate.RLock()
		a := r.h.call(r.replica(), http.MethodPut, "/v2/guilds/"+restoreGuild+"/members", key, map[string]any{"mode": "set", "members": members})
		switch a.verdict {
		case done:
			r.did.changes++
			r.may = map[int64]bool{value: true}
			r.since[value] = true
		case unknown:
			r.may[value], r.since[value] = true, true
			if key == "" {
				r.unsure = a.ended
			}
		}
		r.note("set "+strconv.FormatInt(value, 10), a)
		r.h.gate.RUnlock()
		if a.verdict > done {
			r.h.violation(r, fmt.Sprintf("setting all members to %d was answered with %s", value, a.text))
		}
		if a.verdict >= done {
			return
		}
		r.failover()
		if key == "" {
			return
		}
		if !r.h.again(attempt) {
			return
		}
	}
}

// keep makes a checkpoint. The service may keep one whose answer was lost, so all are deleted now and then.
func (r *restorer) keep() bool {
	if len(r.kept) >= keptAtMost && !r.forget() {
		return false
	}
	for attempt := 1; ; attempt++ {
		r.h.gate.RLock()
		a := r.h.call(r.replica(), http.MethodPost, "/admin/guilds/"+restoreGuild+"/checkpoints", "", map[string]any{"name": "Torture"})
		if a.status == http.StatusCreated {
			var made struct{ ID string }
			_ = json.Unmarshal(a.body, &made)
			r.kept[made.ID] = maps.Clone(r.may)
		}
		r.note("keep", a)
		r.h.gate.RUnlock()
		switch {
		case a.status == http.StatusCreated:
			return true
		case a.status == http.StatusConflict: // too many, with those whose answers were lost
			if !r.forget() {
				return false
			}
		case a.verdict > done:
			r.h.violation(r, "a checkpoint was answered with "+a.text)
			return false
		}
		r.failover()
		if !r.h.again(attempt) {
			return false
		}
	}
}

// forget deletes all checkpoints made by hand.
func (r *restorer) forget() bool {
	clear(r.kept)
	a, ok := r.until("GET", "/admin/guilds/"+restoreGuild+"/checkpoints", nil, http.StatusOK)
	var list struct {
		Checkpoints []struct {
			ID        string
			Automatic bool
		}
	}
	if ok && json.Unmarshal(a.body, &list) != nil {
		r.h.violation(r, "the list of checkpoints cannot be read: "+a.text)
		return false
	}
	for _, one := range list.Checkpoints {
		if ok && !one.Automatic {
			_, ok = r.until("DELETE", "/admin/guilds/"+restoreGuild+"/checkpoints/"+one.ID, nil, http.StatusNoContent, http.StatusNotFound)
		}
	}
	return ok
}

// replace restores or resets until the request is answered. Earlier attempts may have succeeded, and must have no effect later.
func (r *restorer) replace(path string, values map[int64]bool) bool {
	for attempt := 1; ; attempt++ {
		r.h.gate.RLock()
		a := r.h.call(r.replica(), http.MethodPost, "/admin/guilds/"+restoreGuild+path, "", nil)
		switch a.verdict {
		case done:
			r.did.restores++
			r.may, r.since = maps.Clone(values), maps.Clone(values)
		case unknown:
			for v := range values {
				r.may[v], r.since[v] = true, true
			}
		}
		r.note(path, a)
		r.h.gate.RUnlock()
		if a.verdict == done {
			return true
		}
		if a.verdict > done {
			r.h.violation(r, path+" was answered with "+a.text)
			return false
		}
		r.failover()
		if !r.h.again(attempt) {
			return false
		}
	}
}

// read reads all members in one call. They must have one value. It reports whether that value is certain to stay.
func (r *restorer) read() (settled bool) {
	r.h.gate.RLock()
	defer r.h.gate.RUnlock()
	a := r.h.call(r.replica(), http.MethodGet, "/v2/guilds/"+restoreGuild+"/members?ids="+strings.Join(r.users, ",")+","+ghost, "", nil)
	if a.verdict == unknown || a.verdict == unsent {
		r.note("read", a)
		r.failover()
		return false
	}
	value, err := r.valueOf(a)
	a.text = fmt.Sprintf("%d %d", a.status, value)
	r.note("read", a)
	if err == nil && !r.may[value] {
		err = errors.New("no outcome of the requests explains the value")
	}
	if err != nil {
		r.h.violation(r, fmt.Sprintf("a read of all members was answered with %s: %v", a.body, err))
		return false
	}
	if !r.unsure.IsZero() && a.began.Before(latest(r.unsure, r.h.flowing()).Add(settleTime)) {
		return false
	}
	r.unsure = time.Time{}
	if r.h.mode != sentinel { // a sentinel's master may lose what it shows
		r.may = map[int64]bool{value: true}
	}
	return true
}

// valueOf returns the XP that all members of an answer have, or none.
func (r *restorer) valueOf(a answer) (value int64, err error) {
	var seen struct {
		Members []struct {
			XP *int64
		}
		Missing []string
	}
	if err := json.Unmarshal(a.body, &seen); err != nil {
		return 0, err
	}
	if i := slices.Index(seen.Missing, ghost); i < 0 {
		return 0, errors.New("the hidden user is in the answer")
	} else {
		seen.Missing = slices.Delete(seen.Missing, i, i+1)
	}
	if len(seen.Missing) == len(r.users) && len(seen.Members) == 0 {
		return none, nil
	}
	if len(seen.Members) != len(r.users) {
		return 0, fmt.Errorf("%d members are in the answer and %d missing", len(seen.Members), len(seen.Missing))
	}
	for i, m := range seen.Members {
		if m.XP == nil || i > 0 && *m.XP != value {
			return 0, errors.New("the members differ, so before and after are mixed")
		}
		value = *m.XP
	}
	return value, nil
}

// settle reads the guild from one replica until nothing is pending.
func (r *restorer) settle(replica int) bool {
	r.current = replica
	return r.h.until(nil, r.read, "the members of guild %s", restoreGuild)
}

// lost notes that Redis may go back to any state since the incarnation began, but to none from before.
func (r *restorer) lost() {
	maps.Copy(r.may, r.since)
}

func (r *restorer) note(what string, a answer) {
	r.log = append(r.log, newEvent(r.h, what, a, fmt.Sprint(slices.Sorted(maps.Keys(r.may)))))
	r.log = r.log[max(0, len(r.log)-historyKept):]
}

func (r *restorer) events() (string, []event) { return "guild " + restoreGuild, r.log }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
