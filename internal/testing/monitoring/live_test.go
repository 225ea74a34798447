package monitoring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/bot"
	"levelboard/internal/testing/discord"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

// answerTime is for the slowest machine. Usually an answer takes a few scrapes.
const answerTime = 3 * time.Minute

// TestEveryRuleAndEveryPanelHasData scrapes a service that uses all its features, and evaluates all recorded rules, operands of alerts, panels
// and runbook queries.
func TestEveryRuleAndEveryPanelHasData(t *testing.T) {
	service := startService(t)
	prometheus := startPrometheus(t, service, startBot(t, service))
	putLoadOn(t, service)

	var waiting []query
	for _, r := range rules(t) {
		if r.Record != "" {
			waiting = append(waiting, query{"record " + r.Record, r.Expr}, query{"recorded", r.Record + selector(r.Labels)})
			continue
		}
		for _, operand := range operands(r.Expr) {
			waiting = append(waiting, query{"alert " + r.Alert, operand})
		}
	}
	for _, d := range dashboards() {
		waiting = append(waiting, d.queries()...)
	}
	waiting = append(waiting, runbookQueries(t)...)
	t.Logf("evaluating %d queries", len(waiting))

	ctx, cancel := context.WithTimeout(t.Context(), answerTime)
	defer cancel()
	pause := time.NewTicker(500 * time.Millisecond)
	defer pause.Stop()
	for len(waiting) > 0 {
		var unanswered []query
		for _, q := range waiting {
			if !prometheus.answers(t, q) {
				unanswered = append(unanswered, q)
			}
		}
		waiting = unanswered
		select {
		case <-pause.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	for _, q := range waiting {
		t.Errorf("Prometheus has no data for %s: %s", q.where, q.expr)
	}
}

func selector(labels map[string]string) string {
	var pairs []string
	for name, value := range labels {
		pairs = append(pairs, name+`="`+value+`"`)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// startService runs a service on servers as an operator should: with a Redis that has an append-only file and a memory limit.
func startService(t *testing.T) *app.App {
	t.Helper()
	return service.StartOn(t, testenv.Redis(t, testenv.WithAOF(), testenv.WithConfig("maxmemory 1gb")),
		"LEVELBOARD_SNAPSHOT_INTERVAL=1s", "LEVELBOARD_RATE_LIMIT_KEY=100000", "LEVELBOARD_RATE_LIMIT_IDENTITY=200000", "LEVELBOARD_ALLOWED_PRIVATE_HOSTS=127.0.0.1")
}

// putLoadOn runs the load until the test ends.
func putLoadOn(t *testing.T, service *app.App) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	l := newLoad(t, "http://"+service.Addr())
	running.Go(func() { l.run(ctx) })
	running.Go(func() { l.follow(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		l.http.CloseIdleConnections()
	})
}

// monitor is a Prometheus that scrapes a service, with the rules of deploy/prometheus.
type monitor struct {
	base string
	http *http.Client
	vars *strings.Replacer
}

// startBot runs a bot without guilds until the test ends, and returns the address of its ops port.
func startBot(t *testing.T, service *app.App) string {
	t.Helper()
	address := testenv.FreeAddr(t)
	settings, err := bot.Load([]string{
		"DISCORD_TOKEN=" + discord.Token, "LEVELBOARD_KEY=none", "LEVELBOARD_URL=http://" + service.Addr(), "LEVELBOARD_BOT_DATA=" + t.TempDir(),
		"LEVELBOARD_BOT_DISCORD_URL=" + discord.Start(t).URL, "LEVELBOARD_OPS_LISTEN=" + address,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx, settings, "1.0.0", t.Output()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return address
}

func startPrometheus(t *testing.T, service *app.App, bot string) monitor {
	t.Helper()
	rules, err := filepath.Abs(prometheusDir + "/rules")
	if err != nil {
		t.Fatal(err)
	}
	server := testenv.Prometheus(t, fmt.Sprintf(`
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [%q]
scrape_configs: [{job_name: levelboard, static_configs: [{targets: [%q]}]}, {job_name: levelboard-bot, static_configs: [{targets: [%q]}]}]
`, filepath.Join(rules, "*.yml"), service.OpsAddr(), bot))
	pool := &http.Transport{}
	t.Cleanup(pool.CloseIdleConnections)
	// Grafana replaces these variables.
	vars := strings.NewReplacer("$job", "levelboard", "$instance", ".*", "$__rate_interval", "1m")
	return monitor{server.URL(), &http.Client{Transport: pool, Timeout: 30 * time.Second}, vars}
}

// answers reports whether the query has at least one numeric sample. A query that Prometheus refuses fails the test.
func (m monitor) answers(t *testing.T, q query) bool {
	t.Helper()
	resp, err := m.http.PostForm(m.base+"/api/v1/query", url.Values{"query": {m.vars.Replace(q.expr)}})
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("Prometheus refuses the query of %s: %s: status %d, %s (%v)", q.where, q.expr, resp.StatusCode, content, err)
		return true
	}
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		// A scalar or a string is no series.
		t.Errorf("the query of %s returns no series: %s: %v", q.where, q.expr, err)
		return true
	}
	for _, series := range answer.Data.Result {
		text, _ := series.Value[1].(string)
		if value, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(value) {
			return true
		}
	}
	return false
}
