package monitoring_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(m, goleak.IgnoreTopFunction("github.com/disgoorg/disgo/rest.(*rateLimiterImpl).cleanup")) // of the bot
}

const (
	prometheusDir = "../../../deploy/prometheus"
	dashboardsDir = "../../../deploy/grafana/dashboards"
	runbooks      = "../../../docs/runbooks*.md"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// glob returns the files that match, and fails without any.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s (%v)", pattern, err)
	}
	return files
}
