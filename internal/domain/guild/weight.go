package guild

// What things take in memory, in bytes, about: strings with their headers, and a guild with its places in a cache.
const (
	guildBytes      = 800
	idBytes         = 40
	namedBytes      = 112 // a channel or a role, without its name
	rewardBytes     = 160
	multiplierBytes = 200
)

// weight is about how many bytes a guild's settings take in memory. Settings never change, so it is always the same.
func (g *Guild) weight() int {
	sum := guildBytes + len(g.Name) + len(g.Vanity)
	if g.Icon != nil {
		sum += len(*g.Icon)
	}
	sum += idBytes * (len(g.AdminIDs) + len(g.IgnoredChannelIDs) + len(g.IgnoredRoleIDs))
	for _, m := range g.Multipliers {
		sum += multiplierBytes + rolesWeight(m.Roles)
		for _, c := range m.Channels {
			sum += namedBytes + len(c.Name)
		}
	}
	for _, r := range g.RoleRewards {
		sum += rewardBytes + rolesWeight(r.Roles)
	}
	return sum
}

func rolesWeight(roles []Role) (sum int) {
	for _, r := range roles {
		sum += namedBytes + len(r.Name)
	}
	return sum
}
