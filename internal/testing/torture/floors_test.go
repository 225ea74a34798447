package torture

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// unsavedScript lists the members of a loaded guild that the archive lacks, atomically.
var unsavedScript = redis.NewScript(`
if not redis.call('HGET', KEYS[1], 'incarnation') then return false end
return redis.call('ZRANGEBYSCORE', KEYS[2], 0, '+inf')`)

// watchFloors polls which members are archived. Changes acknowledged before such a poll must survive.
func (h *harness) watchFloors() {
	for h.running() {
		for _, guild := range []string{mainGuild, churnGuild} {
			h.lookAtFloors(guild)
		}
		h.pause(25 * time.Millisecond)
	}
}

func (h *harness) lookAtFloors(guild string) {
	at := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), redisWaits)
	defer cancel()
	found, err := h.unsaved(ctx, guild)
	if err != nil {
		return // Redis is down, or the guild is not loaded
	}
	unsaved := map[string]bool{}
	for _, user := range found {
		unsaved[user] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, user := range h.users {
		if !unsaved[user] {
			h.floors[guild+"/"+user] = at
		}
	}
}

// unsaved lists the members of a guild that the archive lacks, or returns redis.Nil if the guild is not loaded.
func (h *harness) unsaved(ctx context.Context, guild string) ([]string, error) {
	prefix := "lb:{" + guild + "}:"
	return unsavedScript.Run(ctx, h.live, []string{prefix + "meta", prefix + "dirty"}).StringSlice()
}
