package monitoring_test

// on selects the chosen job's chosen replicas.
const on = `job="$job",instance=~"$instance"`

// onBot selects the bot of the chosen job.
const onBot = `job="$job-bot"`

// quantile returns a quantile of a histogram, summed over the labels that by does not name.
func quantile(q, by, histogram string) string {
	if by != "" {
		by = ", " + by
	}
	return "histogram_quantile(" + q + ", sum by (le" + by + ") (rate(" + histogram + "[$__rate_interval])))"
}

// perSecond returns a counter's rate, summed.
func perSecond(by, counter string) string {
	if by != "" {
		by = "by (" + by + ") "
	}
	return "sum " + by + "(rate(" + counter + "[$__rate_interval]))"
}

const (
	httpBucket = "levelboard_http_request_duration_seconds_bucket{" + on + `,route=~"/v2/.*"`
	httpCount  = "levelboard_http_request_duration_seconds_count{" + on
)

func stat(title, unit, expr string) panel {
	return panel{title: title, unit: unit, kind: "stat", width: 3, queries: []shown{{expr, ""}}}
}

func one(title, unit, expr, legend string) panel {
	return panel{title: title, unit: unit, queries: []shown{{expr, legend}}}
}

var overview = dashboard{
	uid: "levelboard-overview", title: "Levelboard overview",
	rows: []row{
		{"Now", []panel{
			stat("Replicas up", "short", `sum(up{`+on+`})`),
			stat("Answered without a failure, 1 h", "percentunit", `1 - job_slo:levelboard_bad_requests:ratio_rate1h{job="$job",slo="availability"}`),
			stat("Requests", "reqps", perSecond("", httpCount+"}")),
			stat("Changes, p99", "s", quantile("0.99", "", httpBucket+`,method=~"POST|PUT|PATCH|DELETE"}`)),
			stat("Pages, p99", "s", quantile("0.99", "", `levelboard_http_request_duration_seconds_bucket{`+on+`,route="/v2/levels/:entry"}`)),
			stat("Oldest change without a snapshot", "s", `job:levelboard_snapshot_oldest_unsaved_seconds:max{job="$job"}`),
			stat("Redis reachable", "bool", `min(levelboard_redis_up{`+on+`})`),
			stat("Archive reachable", "bool", `min(levelboard_archive_up{`+on+`})`),
		}},
		{"Objectives", []panel{
			{
				title: "How fast the error budgets burn", unit: "none", width: 12,
				help:    "1 uses the budget up in exactly 30 days; the pages' thresholds are 14.4 for an hour and 6 for six hours.",
				queries: []shown{{`job_slo:levelboard_bad_requests:ratio_rate1h{job="$job"} / on (slo) group_left () slo:levelboard_budget:ratio`, "{{slo}}"}},
			},
			{
				title: "Left of the error budgets of 30 days", unit: "percentunit", width: 12,
				queries: []shown{{`1 - avg_over_time(job_slo:levelboard_bad_requests:rate5m{job="$job"}[30d]) / avg_over_time(job_slo:levelboard_requests:rate5m{job="$job"}[30d]) / on (slo) group_left () slo:levelboard_budget:ratio`, "{{slo}}"}},
			},
		}},
		{"Traffic", []panel{
			one("Requests by route", "reqps", perSecond("method, route", httpCount+"}"), "{{method}} {{route}}"),
			one("Requests by status", "reqps", perSecond("status", httpCount+"}"), "{{status}}"),
			{title: "In flight, and turned away", unit: "none", queries: []shown{
				{`sum(levelboard_http_requests_in_flight{` + on + `})`, "in flight"},
				{perSecond("", `levelboard_http_requests_turned_away_total{`+on+`}`), "turned away a second"},
			}},
			one("Time of a request, p50", "s", quantile("0.5", "method, route", httpBucket+"}"), "{{method}} {{route}}"),
			one("Time of a request, p99", "s", quantile("0.99", "method, route", httpBucket+"}"), "{{method}} {{route}}"),
			{title: "Size of requests and answers, p95", unit: "bytes", queries: []shown{
				{quantile("0.95", "", `levelboard_http_request_size_bytes_bucket{`+on+`}`), "requests"},
				{quantile("0.95", "", `levelboard_http_response_size_bytes_bucket{`+on+`}`), "answers"},
			}},
		}},
		{"Levels", []panel{
			one("Messages", "cps", perSecond("outcome", `levelboard_messages_total{`+on+`}`), "{{outcome}}"),
			{title: "XP and level-ups", unit: "cps", queries: []shown{
				{perSecond("", `levelboard_xp_awarded_total{`+on+`}`), "XP for messages"},
				{perSecond("", `levelboard_level_ups_total{`+on+`}`), "level-ups"},
			}},
			one("Pages by where they came from", "reqps", perSecond("outcome", `levelboard_page_cache_requests_total{`+on+`}`), "{{outcome}}"),
			one("Repeated requests answered again", "reqps", perSecond("", `levelboard_idempotent_replays_total{`+on+`}`), "replays"),
			one("Streams of events", "short", `levelboard_event_streams_open{`+on+`}`, "{{instance}}"),
			{title: "Events sent, and streams dropped", unit: "cps", queries: []shown{
				{perSecond("", `levelboard_events_sent_total{`+on+`}`), "events"},
				{perSecond("", `levelboard_event_streams_dropped_total{`+on+`}`), "streams dropped"},
			}},
		}},
		{"Hidden users", []panel{
			one("Requests about hidden users", "reqps", perSecond("method, status", httpCount+`,route="/v2/guilds/:guildId/hidden"}`), "{{method}} {{status}}"),
			{title: "Flags copied to Redis", unit: "ops", queries: []shown{
				{perSecond("", `levelboard_redis_script_duration_seconds_count{`+on+`,script="hide"}`), "copies"},
				{perSecond("", `levelboard_redis_script_errors_total{`+on+`,script="hide"}`), "failed"},
			}},
		}},
		{"Announcements", []panel{
			one("Posts of announcements", "cps", perSecond("kind, outcome", `levelboard_announcements_total{`+on+`}`), "{{kind}}: {{outcome}}"),
			{title: "From an event to its post", unit: "s", queries: []shown{
				{quantile("0.5", "", `levelboard_announcement_lag_seconds_bucket{`+on+`}`), "p50"},
				{quantile("0.99", "", `levelboard_announcement_lag_seconds_bucket{`+on+`}`), "p99"},
			}},
		}},
		{"Redis", redisPanels},
		{"Snapshots and the archive", archivePanels},
		{"Discord bot", []panel{
			{title: "The bot: connected, and its queue", unit: "short", queries: []shown{
				{`min(levelboard_bot_connected{` + onBot + `})`, "connected"},
				{`sum(levelboard_bot_queue_messages{` + onBot + `})`, "queued"},
			}},
			one("The bot's messages", "cps", perSecond("outcome", `levelboard_bot_messages_total{`+onBot+`}`), "{{outcome}}"),
			{title: "The bot's roles and announcements", unit: "cps", queries: []shown{
				{perSecond("outcome", `levelboard_bot_role_changes_total{`+onBot+`}`), "roles: {{outcome}}"},
				{perSecond("outcome", `levelboard_bot_announcements_total{`+onBot+`}`), "announcements: {{outcome}}"},
			}},
		}},
		{"Processes", []panel{
			one("Processors in use", "short", `rate(process_cpu_seconds_total{`+on+`}[$__rate_interval])`, "{{instance}}"),
			one("Memory", "bytes", `process_resident_memory_bytes{`+on+`}`, "{{instance}}"),
			one("Goroutines", "short", `go_goroutines{`+on+`}`, "{{instance}}"),
			one("Pauses of the garbage collector, longest", "s", `go_gc_duration_seconds{`+on+`,quantile=~"1|1.0"}`, "{{instance}}"),
			one("File descriptors in use", "percentunit", `process_open_fds{`+on+`} / process_max_fds{`+on+`}`, "{{instance}}"),
			one("Versions", "short", `count by (version, go_version) (levelboard_build_info{`+on+`})`, "{{version}}, {{go_version}}"),
		}},
	},
}
