package monitoring_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// rule is a rule of deploy/prometheus/rules: an alert or a recorded series.
type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	for _, path := range glob(t, prometheusDir+"/rules/*.yml") {
		var file struct {
			Groups []struct {
				Name  string
				Rules []rule
			}
		}
		if err := yaml.UnmarshalWithOptions([]byte(read(t, path)), &file, yaml.Strict()); err != nil {
			t.Fatalf("reading the rules in %s: %v", path, err)
		}
		for _, group := range file.Groups {
			all = append(all, group.Rules...)
		}
	}
	return all
}

// promtool runs promtool in deploy/prometheus.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Fatal("promtool is not in PATH: run `make setup`, or install Prometheus 2.42 or newer (Debian: package prometheus)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "promtool", args...)
	command.Dir = prometheusDir
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

func TestConfigurationAndRulesAreValid(t *testing.T) {
	promtool(t, "check", "config", "prometheus.yml")
}

func TestAlertsFireAsTheirCasesSay(t *testing.T) {
	for _, path := range glob(t, prometheusDir+"/tests/*.yml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yml"), func(t *testing.T) {
			t.Parallel()
			promtool(t, "test", "rules", "tests/"+filepath.Base(path))
		})
	}
}

// TestEveryAlertHasCases requires, for each alert and severity, a story in which it fires at one time and not at another. Each check in these
// files lists all firing alerts, so an alert cannot fire unnoticed.
func TestEveryAlertHasCases(t *testing.T) {
	type check struct {
		Expr       string
		EvalTime   string `yaml:"eval_time"`
		ExpSamples []struct {
			Labels string
			Value  float64
		} `yaml:"exp_samples"`
	}
	tested := map[string]bool{}
	for _, path := range glob(t, prometheusDir+"/tests/*.yml") {
		var file struct {
			Tests []struct {
				Name   string
				Checks []check `yaml:"promql_expr_test"`
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, path)), &file); err != nil {
			t.Fatalf("reading the cases in %s: %v", path, err)
		}
		for _, story := range file.Tests {
			fires := map[string]int{}
			for _, check := range story.Checks {
				if check.Expr != `count by (alertname, severity) (ALERTS{alertstate="firing"})` {
					t.Errorf("%s, %s: a check does not list all firing alerts", path, story.Name)
				}
				for _, sample := range check.ExpSamples {
					fires[sample.Labels]++
				}
			}
			for labels, n := range fires {
				tested[labels] = tested[labels] || n < len(story.Checks)
			}
		}
	}
	for _, r := range rules(t) {
		labels := `{alertname="` + r.Alert + `",severity="` + r.Labels["severity"] + `"}`
		if r.Alert != "" && !tested[labels] {
			t.Errorf("no case in %s/tests has %s both firing and not", prometheusDir, labels)
		}
		delete(tested, labels)
	}
	for labels := range tested {
		t.Errorf("%s/tests has cases for %s, which is no alert", prometheusDir, labels)
	}
}

// runbooksBase is a template that becomes the address in the first rule's label.
const runbooksBase = `{{ with query "runbooks:levelboard:base" }}{{ . | first | label "url" }}{{ end }}`

func TestEveryAlertHasASummaryAndARunbook(t *testing.T) {
	pages := runbookPages(t)
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("the alert %s has no summary or no description", r.Alert)
		}
		if want := runbooksBase + "/" + pages[r.Alert] + "#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("the alert %s has the runbook_url %q, want %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		if !slices.Contains([]string{"page", "ticket"}, r.Labels["severity"]) {
			t.Errorf("the alert %s has the severity %q, want page or ticket", r.Alert, r.Labels["severity"])
		}
	}
}
