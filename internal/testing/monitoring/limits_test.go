package monitoring_test

const (
	charges = `levelboard_rate_limit_requests_total{` + on
	used    = `levelboard_rate_limit_used_ratio_bucket{` + on
)

// over returns the share of charges after which more than this much of the budget was used, by scope.
func over(le string) string {
	return `1 - ` + perSecond("scope", used+`,le="`+le+`"}`) + ` / ` + perSecond("scope", `levelboard_rate_limit_used_ratio_count{`+on+`}`)
}

var limits = dashboard{
	uid: "levelboard-limits", title: "Levelboard limits and keys",
	rows: []row{
		{"Limits", []panel{
			{title: "Requests charged", unit: "reqps", queries: []shown{{perSecond("scope, outcome", charges+"}"), "{{scope}}: {{outcome}}"}},
				help: "A request is charged to its key and to its identity, or else to its address; a limited one is counted where it was refused."},
			one("Share of requests that are limited", "percentunit", `job_scope:levelboard_rate_limit_limited:ratio_rate5m{job="$job"}`, "{{scope}}"),
			one("Share of charges in the last tenth of a budget", "percentunit", `job_scope:levelboard_rate_limit_nearly_used:ratio_rate5m{job="$job"}`, "{{scope}}"),
			one("Budget in use, p50", "percentunit", quantile("0.5", "scope", used+"}"), "{{scope}}"),
			one("Budget in use, p95", "percentunit", quantile("0.95", "scope", used+"}"), "{{scope}}"),
			one("Share of charges over half of a budget", "percentunit", over("0.5"), "{{scope}}"),
		}},
		{"What callers see", []panel{
			{title: "Limited (429), by route", unit: "reqps", queries: []shown{{perSecond("method, route", httpCount+`,status="429"}`), "{{method}} {{route}}"}}},
			one("Refused for another reason", "reqps", perSecond("status", httpCount+`,route=~"/v2/.*",status=~"4..",status!~"404|429"}`), "{{status}}"),
			one("Share of requests under /v2 that are refused", "percentunit",
				perSecond("", httpCount+`,route=~"/v2/.*",status=~"4.."}`)+` / `+perSecond("", httpCount+`,route=~"/v2/.*"}`), "4xx"),
		}},
		{"Keys", []panel{
			{title: "Bad keys (401), by route", unit: "reqps", queries: []shown{{perSecond("method, route", httpCount+`,status="401"}`), "{{method}} {{route}}"}},
				help: "Missing, malformed, unknown, revoked or expired. Each is charged to its address."},
			{title: "Keys without the right (403), by route", unit: "reqps", queries: []shown{{perSecond("method, route", httpCount+`,status="403"}`), "{{method}} {{route}}"}}},
			{title: "Calls that manage keys", unit: "reqps", queries: []shown{{perSecond("method, route", httpCount+`,route=~"/admin/keys.*"}`), "{{method}} {{route}}"}}},
		}},
	},
}
