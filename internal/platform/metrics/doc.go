// Package metrics has the registry and the /metrics handler. Each metric is declared in the package that owns it.
//
// # Adding a metric
//
//  1. The package whose behaviour it shows declares it in its metrics.go, as a variable: NewGauge, NewCounter or NewCounterVec of this package, a
//     histogram as its neighbours do. Its name begins with levelboard_ and ends in the unit (_seconds, _bytes) or, for a counter, in _total.
//  2. No label may name a guild, a user or a key. Each label has few known values: give them to NewCounterVec, so that the series exist before the
//     first event.
//  3. The package's Collectors returns it; app.registerMetrics registers those. A metric that needs a round trip at a scrape is a collector on
//     Shared.
//  4. docs/metrics.md has a row: name, type, labels, meaning. A test compares the page with a running service, both ways.
//  5. If it should alert an operator: a rule in deploy/prometheus/rules, its test in deploy/prometheus/tests, and a runbook in docs/.
package metrics
