package keeper

import (
	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/metrics"
)

var (
	messages = metrics.NewCounterVec("levelboard_bot_messages_total",
		"Messages of members: sent, rejected by Levelboard, dropped because the queue was full, repeated by Discord.", "outcome", "sent", "rejected", "dropped", "repeated")
	queued      = metrics.NewGauge("levelboard_bot_queue_messages", "Messages that Levelboard has not taken yet.")
	guildsKept  = metrics.NewGauge("levelboard_bot_guilds", "Guilds that the bot is in.")
	roleResults = metrics.NewCounterVec("levelboard_bot_role_changes_total",
		"Roles given and taken: done, forbidden by missing rights, failed.", "outcome", "done", "forbidden", "failed")
	announced = metrics.NewCounterVec("levelboard_bot_announcements_total",
		"Level-ups and winners: posted, or failed.", "outcome", "posted", "failed")
)

// Collectors are the keeper's metrics.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{messages, queued, guildsKept, roleResults, announced}
}
