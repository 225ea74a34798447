package monitoring_test

// redisPanels are for operators of Redis.
var redisPanels = []panel{
	{title: "Memory of Redis", unit: "bytes", queries: []shown{
		{`max(levelboard_redis_memory_used_bytes{` + on + `})`, "used"},
		{`max(levelboard_redis_memory_max_bytes{` + on + `})`, "maxmemory (0: none)"},
	}},
	one("Keys evicted", "cps", `max(rate(levelboard_redis_evicted_keys_total{`+on+`}[$__rate_interval]))`, "a second; must be 0"),
	{title: "Persistence", unit: "bool", queries: []shown{
		{`max by (kind) (levelboard_redis_persistence{` + on + `})`, "{{kind}} on"},
		{`min(levelboard_redis_persistence_ok{` + on + `})`, "last write succeeded"},
	}},
	one("Scripts", "ops", perSecond("script", `levelboard_redis_script_duration_seconds_count{`+on+`}`), "{{script}}"),
	one("Time of a script, p99", "s", quantile("0.99", "script", `levelboard_redis_script_duration_seconds_bucket{`+on+`}`), "{{script}}"),
	one("Scripts that failed", "ops", perSecond("script", `levelboard_redis_script_errors_total{`+on+`}`), "{{script}}"),
	one("Connections to Redis", "short", `sum by (state) (levelboard_redis_pool_connections{`+on+`})`, "{{state}}"),
	{title: "Commands sent together", unit: "short", queries: []shown{
		{quantile("0.5", "", `levelboard_redis_pipeline_commands_bucket{`+on+`}`), "p50"},
		{quantile("0.99", "", `levelboard_redis_pipeline_commands_bucket{`+on+`}`), "p99"},
	}},
	one("Commands that wait for Redis", "short", `sum(levelboard_redis_pipeline_waiting{`+on+`})`, "waiting"),
}

// archivePanels are for operators of Postgres, and about what depends on it.
var archivePanels = []panel{
	one("Age of the oldest change without a snapshot", "s", `max(levelboard_snapshot_oldest_unsaved_seconds{`+on+`})`, "oldest"),
	{title: "Members without a snapshot", unit: "short", queries: []shown{
		{`max(levelboard_snapshot_backlog_members{` + on + `})`, "now"},
		{`job:levelboard_snapshot_backlog_members:min10m{job="$job"}`, "least in 10 minutes"},
	}},
	{title: "Time of a snapshot", unit: "s", queries: []shown{
		{quantile("0.5", "", `levelboard_snapshot_duration_seconds_bucket{`+on+`}`), "p50"},
		{quantile("0.99", "", `levelboard_snapshot_duration_seconds_bucket{`+on+`}`), "p99"},
	}},
	{title: "Members archived", unit: "cps", queries: []shown{
		{perSecond("", `levelboard_snapshot_members_total{`+on+`}`), "archived"},
		{perSecond("outcome", `levelboard_snapshot_bad_members_total{`+on+`}`), "{{outcome}}"},
	}},
	{title: "Failures", unit: "cps", queries: []shown{
		{perSecond("", `levelboard_snapshot_failures_total{`+on+`}`), "snapshots of a guild"},
		{perSecond("operation", `levelboard_archive_query_errors_total{`+on+`}`), "archive: {{operation}}"},
	}},
	{title: "Who writes the snapshots", unit: "short", queries: []shown{
		{`levelboard_snapshot_lease_held{` + on + `}`, "{{instance}} holds the lease"},
		{`increase(levelboard_snapshot_leases_lost_total{` + on + `}[1h])`, "{{instance}} lost it in 1 h"},
	}},
	{title: "Guilds", unit: "short", queries: []shown{
		{`max(levelboard_guilds_loaded{` + on + `})`, "loaded"},
		{`sum(increase(levelboard_hydrations_total{` + on + `}[1h]))`, "hydrated in 1 h"},
		{`sum(increase(levelboard_redis_went_back_total{` + on + `}[1h]))`, "went back in 1 h"},
		{`sum(increase(levelboard_archive_went_back_total{` + on + `}[1h]))`, "went back in Postgres in 1 h"},
	}},
	one("Time to hydrate a guild, p99", "s", quantile("0.99", "", `levelboard_hydration_duration_seconds_bucket{`+on+`}`), "p99"),
	one("Connections to the archive", "short", `sum by (state) (levelboard_archive_pool_connections{`+on+`})`, "{{state}}"),
	one("Queries of the archive", "ops", perSecond("operation", `levelboard_archive_query_duration_seconds_count{`+on+`}`), "{{operation}}"),
	one("Time of a query of the archive, p99", "s", quantile("0.99", "operation", `levelboard_archive_query_duration_seconds_bucket{`+on+`}`), "{{operation}}"),
}
