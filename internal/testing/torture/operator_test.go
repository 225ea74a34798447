package torture

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// operator changes settings. It also deletes and recreates a guild with the same users, many times. No member of an earlier incarnation may
// come back.
type operator struct {
	*client
	born  int  // number of times the guild was created
	alive bool // the guild exists, and members is its model
}

const churnMembers = 6

func churnUser(i int) string { return strconv.Itoa(400000000000000000 + i) }

func newOperator(h *harness) *operator {
	return &operator{client: &client{h: h, name: "op", rng: h.stream(operatorStream), current: 1}}
}

func (o *operator) run() {
	for o.h.running() && o.found() {
		for range 8 + o.rng.IntN(20) {
			if !o.h.running() {
				return
			}
			o.step()
			if o.rng.IntN(15) == 0 {
				o.until("PUT", "/admin/guilds/"+mainGuild, o.h.guildDocument("Torture "+strconv.Itoa(o.rng.IntN(1000)), o.h.counted(mainGuild)), http.StatusOK)
			}
			o.h.pause(time.Duration(o.rng.IntN(20)) * time.Millisecond)
		}
		o.bury()
		o.awaitTrouble()
		o.until("DELETE", "/admin/guilds/"+churnGuild, nil, http.StatusNoContent, http.StatusNotFound)
	}
}

// found creates the guild and waits until every replica shows that it has no members.
func (o *operator) found() bool {
	o.born++
	maker, made := o.until("PUT", "/admin/guilds/"+churnGuild, o.h.guildDocument("Churn "+strconv.Itoa(o.born), o.h.counted(churnGuild)), http.StatusCreated, http.StatusOK)
	if !made {
		return false
	}
	if _, granted := o.until("PUT", "/admin/keys/"+o.h.keyID+"/guilds/"+churnGuild, nil, http.StatusNoContent); !granted {
		return false
	}
	o.h.tell("guild %s was created (number %d)", churnGuild, o.born)
	began := time.Now()
	served := began // the replica has been up since then
	for _, r := range o.h.replicas {
		for attempt, unseen := 1, 0; unseen < churnMembers; attempt++ {
			// Settings and grants reach the other replica within a second, or later if the archive is down. Until then it may answer for the earlier
			// guild.
			a := o.h.call(r, "GET", memberPath(churnGuild, churnUser(unseen)), "", nil)
			if a.verdict == absent {
				unseen++
				continue
			}
			if (a.verdict == done || a.verdict == left) && a.process == maker.process {
				o.h.violation(nil, fmt.Sprintf("replica %s created guild %s again (number %d) and shows a member of the one before: %s", r.name, churnGuild, o.born, a.body))
				return false
			}
			if !o.h.running() {
				return false
			}
			if a.verdict == unsent {
				served = time.Now()
			}
			if time.Since(served) > patience {
				o.h.violation(nil, fmt.Sprintf("replica %s does not show guild %s, created again, without members, %v after: %s", r.name, churnGuild, patience, a.text))
				return false
			}
			o.h.again(attempt)
		}
	}
	o.h.tell("every replica shows guild %s number %d, %v after", churnGuild, o.born, time.Since(began).Round(time.Millisecond))
	o.h.gate.RLock() // a loss of Redis uses these
	defer o.h.gate.RUnlock()
	o.members = nil
	for i := range churnMembers {
		o.members = append(o.members, o.h.newMember(churnGuild, churnUser(i)))
	}
	o.alive = true
	return true
}

// bury drops the models of the guild's members before the guild is deleted.
func (o *operator) bury() {
	o.h.gate.RLock()
	defer o.h.gate.RUnlock()
	o.alive, o.members = false, nil
}

// awaitTrouble waits, every other time, for a fault of Redis. A guild deleted then cannot be removed from Redis.
func (o *operator) awaitTrouble() {
	if o.rng.IntN(2) == 0 {
		return
	}
	for began := time.Now(); o.h.running() && !o.h.redisBroken.Load() && time.Since(began) < 2*time.Second; {
		o.h.pause(5 * time.Millisecond)
	}
}
