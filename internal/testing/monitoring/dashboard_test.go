package monitoring_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite deploy/grafana/dashboards")

// dashboard has the parts of a Grafana dashboard that this package sets.
type dashboard struct {
	uid, title string
	rows       []row
}

// row is a line of panels under a heading. It wraps after 24 columns.
type row struct {
	title  string
	panels []panel
}

// panel is one chart. unit is Grafana's name for its unit.
type panel struct {
	title, unit string
	help        string // shown at the panel's corner
	kind        string // timeseries if empty
	width       int    // columns of 24; 0 means 8
	queries     []shown
}

// shown is a query with the legend of its series.
type shown struct{ expr, legend string }

// query is an expression with its place.
type query struct{ where, expr string }

// dashboards returns all provisioned dashboards by file.
func dashboards() map[string]dashboard {
	return map[string]dashboard{"levelboard-overview.json": overview, "levelboard-limits.json": limits}
}

type object = map[string]any

const panelHeight = 7

var datasource = object{"type": "prometheus", "uid": "${datasource}"}

// json returns Grafana's document. Keys are sorted and ids count up, so that a change of one panel changes few lines.
func (d dashboard) json(t *testing.T) []byte {
	t.Helper()
	var panels []object
	y := 0
	for _, r := range d.rows {
		panels = append(panels, object{"id": len(panels) + 1, "type": "row", "title": r.title, "collapsed": false, "panels": []any{}, "gridPos": place(0, y, 24, 1)})
		y++
		x := 0
		for _, p := range r.panels {
			width := p.columns()
			if x+width > 24 {
				x, y = 0, y+panelHeight
			}
			panels = append(panels, p.json(len(panels)+1, place(x, y, width, panelHeight)))
			x += width
		}
		y += panelHeight
	}
	document := object{
		"uid": d.uid, "title": d.title, "tags": []string{"levelboard"}, "schemaVersion": 39, "editable": true,
		"refresh": "30s", "time": object{"from": "now-6h", "to": "now"}, "timezone": "",
		"templating": object{"list": variables()}, "panels": panels, "annotations": object{"list": []any{}},
		"links": []object{{"type": "dashboards", "title": "Levelboard", "tags": []string{"levelboard"}, "keepTime": true, "includeVars": true, "asDropdown": false}},
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(document); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func place(x, y, w, h int) object { return object{"x": x, "y": y, "w": w, "h": h} }

func variables() []object {
	of := func(name, label string) object {
		return object{
			"name": name, "type": "query", "datasource": datasource, "query": "label_values(" + label + ", " + name + ")",
			"refresh": 2, "multi": name == "instance", "includeAll": name == "instance", "allValue": ".*", "sort": 1,
		}
	}
	return []object{
		{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
		of("job", "levelboard_build_info"),
		of("instance", `levelboard_build_info{job="$job"}`),
	}
}

func (p panel) columns() int {
	if p.width == 0 {
		return 8
	}
	return p.width
}

func (p panel) json(id int, at object) object {
	var targets []object
	for i, q := range p.queries {
		targets = append(targets, object{"refId": string(rune('A' + i)), "expr": q.expr, "legendFormat": q.legend, "datasource": datasource})
	}
	document := object{
		"id": id, "type": "timeseries", "title": p.title, "gridPos": at, "datasource": datasource, "targets": targets,
		"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []any{}},
		"options":     object{"tooltip": object{"mode": "multi", "sort": "desc"}},
	}
	if p.help != "" {
		document["description"] = p.help
	}
	if p.kind == "stat" {
		document["type"], document["options"] = "stat", object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "graphMode": "area"}
		document["fieldConfig"] = object{"defaults": object{"unit": p.unit}, "overrides": []any{}}
	}
	return document
}

func (d dashboard) queries() (all []query) {
	for _, r := range d.rows {
		for _, p := range r.panels {
			for _, q := range p.queries {
				all = append(all, query{d.title + " / " + r.title + " / " + p.title, q.expr})
			}
		}
	}
	return all
}

// TestDashboardsAreUpToDate compares the provisioned files with this package's dashboards.
func TestDashboardsAreUpToDate(t *testing.T) {
	for name, d := range dashboards() {
		path := filepath.Join(dashboardsDir, name)
		if *update {
			if err := os.WriteFile(path, d.json(t), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if read(t, path) != string(d.json(t)) {
			t.Errorf("%s is not up to date: go test ./internal/testing/monitoring -run Dashboards -update", path)
		}
	}
	for _, path := range glob(t, dashboardsDir+"/*.json") {
		if _, known := dashboards()[filepath.Base(path)]; !known {
			t.Errorf("this package does not write %s", path)
		}
	}
}

func TestEveryPanelHasAUnitAndAQueryOfTheChosenJob(t *testing.T) {
	for name, d := range dashboards() {
		seen := map[string]bool{}
		for _, r := range d.rows {
			for _, p := range r.panels {
				if p.unit == "" || len(p.queries) == 0 || seen[p.title] {
					t.Errorf("%s: the panel %q has no unit, no query, or the title of another", name, p.title)
				}
				seen[p.title] = true
				for _, q := range p.queries {
					if !bytes.Contains([]byte(q.expr), []byte(`job="$job`)) || len(p.queries) > 1 && q.legend == "" {
						t.Errorf("%s: the panel %q does not select the chosen job, or lacks legends for several queries: %s", name, p.title, q.expr)
					}
				}
			}
		}
	}
}
