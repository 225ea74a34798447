// Package monitoring holds the tests of what operators are given, and nothing that ships: deploy/prometheus,
// deploy/grafana and docs/runbooks*.md. A real Prometheus scrapes a real service under load, and every rule and every
// panel must find there what it asks for.
//
// The dashboards are written here, too:
//
//	go test ./internal/testing/monitoring -run Dashboards -update
package monitoring
