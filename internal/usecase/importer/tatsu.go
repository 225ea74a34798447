package importer

// readTatsu reads rankings. They have no names or levels.
func (j *jsonFile) readTatsu() error {
	return j.object("the file", map[string]func() error{
		"guild_id": j.guildID,
		"rankings": func() error {
			return j.list("rankings", j.members(func(m *jsonMember) (Row, Reason) { return m.row(memberNames{id: "user_id", xp: "score"}) }))
		},
	})
}
