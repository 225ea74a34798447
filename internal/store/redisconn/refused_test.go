package redisconn_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/level"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// Redis rejects changes of several guilds in one batch with reads. Each caller gets its own answer.
func TestReadsBesideRefusedChangesSucceed(t *testing.T) {
	const guilds = 6
	xp := func(g int) level.XP { return level.XP(1000 * (g + 1)) }
	for _, refusal := range testenv.Refusals {
		t.Run(refusal.Name, func(t *testing.T) {
			server := testenv.Redis(t)
			s := newBoard(connect(t, server.URL()))
			for g := range guilds {
				loadGuild(t, s, guildNo(g), nth(1))
				_, err := s.Change(t.Context(), guildNo(g), nth(1), leaderboard.Change{Op: leaderboard.Set, Amount: xp(g)})
				ok(t, err)
			}
			end := server.Refuse(refusal)
			b := newBatch(t, s)
			var changes []*changed
			reads, errs := make([]leaderboard.Ranked, guilds), make([]error, guilds)
			for g := range guilds {
				changes = append(changes, b.change(guildNo(g), nth(1), plus(1)))
				b.add(func() { reads[g], errs[g] = s.Member(t.Context(), guildNo(g), nth(1)) })
			}
			b.send()
			for g, c := range changes {
				if !redis.HasErrorPrefix(c.err, refusal.Word) {
					t.Errorf("guild %d: the change is %+v (%v), want %s", g, c.Outcome, c.err, refusal.Word)
				}
				if errs[g] != nil || reads[g].XP != xp(g) {
					t.Errorf("guild %d: the read beside the changes is %+v (%v), want %d XP", g, reads[g], errs[g], xp(g))
				}
			}
			end()
			b = newBatch(t, s)
			for g := range guilds {
				changes[g] = b.change(guildNo(g), nth(1), plus(1))
			}
			b.send()
			for g, c := range changes {
				c.want(t, xp(g), xp(g)+1)
			}
		})
	}
}
