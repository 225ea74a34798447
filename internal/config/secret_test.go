package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/config"
)

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecretsFromFiles(t *testing.T) {
	c, warnings, err := config.Load([]string{
		"LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "t", token+"\n"),
		"LEVELBOARD_REDIS_URL_FILE=" + file(t, "r", "redis://h:1\r\n"),
		"LEVELBOARD_POSTGRES_URL_FILE=" + file(t, "p", "postgres://h/d"),
		"LEVELBOARD_OAUTH_CLIENT_SECRET_FILE=" + file(t, "o", "secret\n"), "LEVELBOARD_OAUTH_CLIENT_ID=id",
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	if c.AdminToken != token || c.RedisURL != "redis://h:1" || c.PostgresURL != "postgres://h/d" || c.OAuthClientSecret != "secret" {
		t.Errorf("%#v", c)
	}
}

func TestBadSecretFiles(t *testing.T) {
	for name, test := range map[string]struct {
		environ []string
		want    string
	}{
		"both":       {[]string{"LEVELBOARD_ADMIN_TOKEN=" + token, "LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "f", token)}, "LEVELBOARD_ADMIN_TOKEN and LEVELBOARD_ADMIN_TOKEN_FILE are both set: set only one of them"},
		"missing":    {[]string{"LEVELBOARD_REDIS_URL_FILE=/nonexistent/" + token, stores[1]}, "LEVELBOARD_REDIS_URL_FILE cannot be read: no such file or directory"},
		"unreadable": {[]string{"LEVELBOARD_POSTGRES_URL_FILE=" + t.TempDir(), stores[0]}, "LEVELBOARD_POSTGRES_URL_FILE cannot be read: is a directory"},
		"empty":      {[]string{"LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "e", "\n")}, "LEVELBOARD_ADMIN_TOKEN_FILE names an empty file"},
		"short":      {[]string{"LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "s", "short\n")}, "LEVELBOARD_ADMIN_TOKEN must be at least 32 characters long"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := config.Load(test.environ)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %q, want %q", err, test.want)
			}
		})
	}
}

func TestClientSettings(t *testing.T) {
	dir := t.TempDir()
	c, err := config.LoadClient([]string{"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_SNAPSHOT_INTERVAL=nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != "http://127.0.0.1:8080" || c.OpsListen != "127.0.0.1:9464" {
		t.Errorf("%+v", c)
	}
	if _, err := c.AdminToken(); !errors.Is(err, config.ErrNoAdminToken) {
		t.Errorf("without a token anywhere: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "admin-token"), []byte("from-the-directory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.AdminToken(); got != "from-the-directory" || err != nil {
		t.Errorf("%q, %v", got, err)
	}

	c, err = config.LoadClient([]string{"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "t", "from-the-file\n"), "LEVELBOARD_URL=https://x.example/"})
	if err != nil || c.URL != "https://x.example" {
		t.Fatalf("%+v, %v", c, err)
	}
	if got, err := c.AdminToken(); got != "from-the-file" || err != nil {
		t.Errorf("%q, %v", got, err)
	}

	if _, err := config.LoadClient([]string{"LEVELBOARD_URL=x.example:80"}); err == nil || !strings.HasPrefix(err.Error(), "LEVELBOARD_URL must be") {
		t.Errorf("a bad URL: %v", err)
	}
}
