package packages

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite deploy/kubernetes/monitoring/rules.yaml")

// TestTheRulesOfKubernetesAreThoseOfPrometheus compares the PrometheusRule with deploy/prometheus/rules, from which it is written, because
// kustomize can put files only into config maps.
func TestTheRulesOfKubernetesAreThoseOfPrometheus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "deploy/prometheus/rules/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules in deploy/prometheus/rules: %v", err)
	}
	var groups []any
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rules struct {
			Groups []any `json:"groups"`
		}
		if err := yaml.UnmarshalStrict(content, &rules); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		groups = append(groups, rules.Groups...)
	}
	document, err := yaml.Marshal(map[string]any{
		"apiVersion": "monitoring.coreos.com/v1",
		"kind":       "PrometheusRule",
		"metadata":   map[string]any{"name": "levelboard", "labels": map[string]any{"app.kubernetes.io/name": "levelboard"}},
		"spec":       map[string]any{"groups": groups},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := append([]byte("# Written from deploy/prometheus/rules: go test . -run Rules -update, in scripts/packages.\n"), document...)
	path := filepath.Join(root, kubernetesDir, "monitoring/rules.yaml")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not up to date: go test . -run Rules -update, in scripts/packages", path)
	}
}
