package app

import (
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/domain/guild"
	"levelboard/internal/store/storetest"
)

// operations counts what was recorded of each operation, and its errors.
func operations(t *testing.T, m *measured) (runs, failures map[string]int) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.metrics)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	runs, failures = map[string]int{}, map[string]int{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			switch family.GetName() {
			case "levelboard_archive_query_duration_seconds":
				runs[metric.GetLabel()[0].GetValue()] = int(metric.GetHistogram().GetSampleCount())
			case "levelboard_archive_query_errors_total":
				failures[metric.GetLabel()[0].GetValue()] = int(metric.GetCounter().GetValue())
			}
		}
	}
	return runs, failures
}

// Every method that asks the archive is an operation of its own in the metrics, also those that will be added.
func TestEveryOperationOnTheArchiveIsCounted(t *testing.T) {
	m := measure(storetest.SQLite(t))
	notOperations := map[string]bool{"Migrate": true, "MigrationStatus": true, "Ping": true, "Connections": true, "Close": true}
	all := reflect.TypeFor[archive]()
	for i := range all.NumMethod() {
		name := all.Method(i).Name
		if notOperations[name] {
			continue
		}
		method := reflect.ValueOf(m).MethodByName(name)
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for a := 1; a < method.Type().NumIn(); a++ {
			args = append(args, reflect.Zero(method.Type().In(a)))
		}
		before, _ := operations(t, m)
		method.Call(args)
		after, _ := operations(t, m)
		if len(after) != len(before)+1 {
			t.Errorf("%s is not an operation of its own: add it to measured.go, and to docs/metrics.md", name)
		}
	}
}

func TestOnlyFailuresOfTheArchiveAreErrors(t *testing.T) {
	m := measure(storetest.SQLite(t))
	if _, err := m.Guild(t.Context(), "100000000000000001"); err == nil {
		t.Fatal("a guild that nobody made was found")
	}
	if runs, failures := operations(t, m); runs["read_guild"] != 1 || failures["read_guild"] != 0 {
		t.Errorf("%v runs, %v failures; that there is no such guild is no failure", runs, failures)
	}
	if g, _, err := m.PutGuild(t.Context(), minimal()); err != nil {
		t.Fatal(err)
	} else if _, err := m.UpdateGuild(t.Context(), g.Settings, g.Version+1); err == nil {
		t.Fatal("an update of another version was made")
	}
	if runs, failures := operations(t, m); runs["update_guild"] != 1 || failures["update_guild"] != 0 {
		t.Errorf("%v runs, %v failures; that the settings were changed since is no failure", runs, failures)
	}
	m.Close()
	if _, _, err := m.PutGuild(t.Context(), guild.Settings{}); err == nil {
		t.Fatal("a closed archive took a guild")
	}
	if runs, failures := operations(t, m); runs["put_guild"] != 2 || failures["put_guild"] != 1 || failures["read_guild"] != 0 {
		t.Errorf("%v runs, %v failures; want one failure of put_guild", runs, failures)
	}
}

// minimal is a guild that an archive takes.
func minimal() guild.Settings {
	return guild.Settings{
		ID: "100000000000000001", Name: "Gophers", MemberCount: 1, OwnerID: "200000000000000001", Visibility: guild.Public,
		XPGainInterval: 60000, XPPerMessageMin: 15, XPPerMessageMax: 40,
	}
}
