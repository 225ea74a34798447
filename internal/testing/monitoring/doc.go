// Package monitoring tests what operators get: deploy/prometheus, deploy/grafana and docs/runbooks*.md. A real Prometheus scrapes a real
// service under load, and must have data for every rule and every panel. Nothing here ships.
//
// The dashboards are written here too:
//
//	go test ./internal/testing/monitoring -run Dashboards -update
package monitoring
