package cli

import (
	"strings"
	"testing"
)

func TestConfigCheckReportsMistakes(t *testing.T) {
	if out := succeed(t, nil, "", "config", "check"); out != "The settings are good (embedded).\n" {
		t.Errorf("config check without settings prints %q", out)
	}
	both := []string{"LEVELBOARD_REDIS_URL=redis://h", "LEVELBOARD_POSTGRES_URL=postgres://h/d"}
	if out := succeed(t, both, "", "config", "check"); out != "The settings are good (Redis and Postgres).\n" {
		t.Errorf("config check with both stores prints %q", out)
	}
	fail(t, []string{"LEVELBOARD_LISTN=x"}, exitFailed, "levelboard: LEVELBOARD_LISTN is not a setting; it has no effect\n", "config", "check")
	fail(t, []string{"LEVELBOARD_LISTEN=x", "LEVELBOARD_LOG_FORMAT=y"}, exitFailed, "levelboard: LEVELBOARD_LOG_FORMAT must be text or json\n", "config", "check")
}

func TestConfigPrintRedactsAndWarns(t *testing.T) {
	secret := "correct-horse-battery-staple-correct-horse"
	r := run(t, []string{"LEVELBOARD_ADMIN_TOKEN=" + secret, "LEVELBOARD_COLOUR=green"}, "", "config", "print")
	if r.code != exitOK || !strings.Contains(r.stdout, "LEVELBOARD_ADMIN_TOKEN=[redacted]\n") || strings.Contains(r.stdout+r.stderr, secret) {
		t.Errorf("config print: the exit code is %d, want the secrets redacted\n%s", r.code, r.stdout)
	}
	if !strings.Contains(r.stderr, "levelboard: warning: LEVELBOARD_COLOUR is not a setting") {
		t.Errorf("config print warns with %q, want the unknown setting", r.stderr)
	}
}
