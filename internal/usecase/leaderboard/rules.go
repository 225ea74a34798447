package leaderboard

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"levelboard/internal/domain/award"
	"levelboard/internal/domain/guild"
)

// rulesKept is of how many guilds the rules are kept ready; they need about as much memory as the settings.
const rulesKept = 1000

// rules keeps the rules of guilds, each as of the settings that were asked for last.
type rules struct {
	kept *lru.Cache[guild.Incarnation, *rulesOf]
}

type rulesOf struct {
	version int64
	*award.Rules
}

func newRules() rules {
	kept, err := lru.New[guild.Incarnation, *rulesOf](rulesKept)
	if err != nil {
		panic(err) // only for a size that is not positive, and it is a constant
	}
	return rules{kept}
}

func (r rules) of(g *guild.Guild) *award.Rules {
	known, ok := r.kept.Get(g.Incarnation)
	if !ok || known.version != g.Version {
		known = &rulesOf{g.Version, award.NewRules(&g.Settings)}
		r.kept.Add(g.Incarnation, known)
	}
	return known.Rules
}
