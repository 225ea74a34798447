package importer

import "github.com/go-json-experiment/json/jsontext"

type tatsuMember struct {
	UserID jsontext.Value `json:"user_id"`
	Score  jsontext.Value `json:"score"`
}

// readTatsu reads rankings, which have neither names nor levels.
func (j *jsonFile) readTatsu() error {
	return j.object("the file", map[string]func() error{
		"guild_id": j.guildID,
		"rankings": func() error {
			return j.list("rankings", members(j, func(m *tatsuMember) (Row, Reason) {
				row, why := readID(m.UserID)
				if why != "" {
					return row, why
				}
				xp, why := readWhole(m.Score)
				row.gain(xp)
				return row, why
			}))
		},
	})
}
