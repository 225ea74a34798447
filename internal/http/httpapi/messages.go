package httpapi

import (
	"fmt"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

// maxMessages is the maximum number of messages in one call.
const maxMessages = 1000

// messagesRequest is the body of POST of messages.
type messagesRequest struct {
	Messages []messageRequest `json:"messages" items:"1..1000"`
}

// messageRequest is one message of the body.
type messageRequest struct {
	UserID          id.User                          `json:"userId"`
	ChannelID       id.Channel                       `json:"channelId"`
	ParentChannelID strictjson.Optional[*id.Channel] `json:"parentChannelId"`
	RoleIDs         strictjson.Optional[[]id.Role]   `json:"roleIds" items:"0..250"`
	User            strictjson.Optional[userRequest] `json:"user"`
}

// awardMessages gives the authors of messages their XP. It reads all messages before it applies the first.
func (a *api) awardMessages(r *request) (any, error) {
	r.guild()
	r.idempotencyKey()
	r.largeBody()
	if r.err != nil {
		return nil, r.err
	}
	messages, err := readMessages(r.sent)
	r.keep(err)
	g := r.enabled()
	if r.err == nil {
		r.reserve(resultsOf(g, len(messages)))
	}
	if r.err != nil {
		return nil, r.err
	}
	gains, replayed, err := a.deps.Board.Award(r.ctx, g, messages, r.once())
	if r.replayed(replayed); !replayed {
		countGains(gains)
	}
	return object{"results": resultsBody(g, gains)}, err
}

// readMessages reads a body of messages. The error is a fault that names the place, as messages[17].channelId.
func readMessages(sent []byte) ([]leaderboard.Message, error) {
	var request messagesRequest
	if err := strictjson.Decode(sent, &request); err != nil {
		return nil, err
	}
	messages := make([]leaderboard.Message, len(request.Messages))
	for i := range request.Messages {
		if err := request.Messages[i].into(&messages[i], fmt.Sprintf("messages[%d].", i)); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// into checks what strictjson does not; errors begin with place.
func (r *messageRequest) into(m *leaderboard.Message, place string) error {
	m.UserID, m.Channel = r.UserID, r.ChannelID
	if parent := r.ParentChannelID.Or(nil); parent != nil {
		m.Parent = *parent
	}
	m.Roles = r.RoleIDs.Or(nil)
	if sent, ok := r.User.Get(); ok {
		user, err := sent.user(place + "user")
		if err != nil {
			return err
		}
		m.Data = &user
	}
	return nil
}

// countGains counts the messages of a call in the metrics.
func countGains(gains []leaderboard.Gain) {
	var gaining, held, ups int
	var xp int64
	for i := range gains {
		xp += int64(gains[i].Gained)
		if gains[i].Gained > 0 {
			gaining++
		}
		if gains[i].InCooldown {
			held++
		}
		if gains[i].LeveledUp {
			ups++
		}
	}
	messagesAwarded.WithLabelValues("gained").Add(float64(gaining))
	messagesAwarded.WithLabelValues("cooldown").Add(float64(held))
	messagesAwarded.WithLabelValues("nothing").Add(float64(len(gains) - gaining - held))
	xpAwarded.Add(float64(xp))
	levelUps.Add(float64(ups))
}
