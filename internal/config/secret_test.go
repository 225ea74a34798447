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

func TestSecretsAreReadFromFiles(t *testing.T) {
	c, warnings, err := config.Load([]string{
		"LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "t", token+"\n"),
		"LEVELBOARD_REDIS_URL_FILE=" + file(t, "r", "redis://h:1\r\n"),
		"LEVELBOARD_POSTGRES_URL_FILE=" + file(t, "p", "postgres://h/d"),
		"LEVELBOARD_OAUTH_CLIENT_SECRET_FILE=" + file(t, "o", "secret\n"), "LEVELBOARD_OAUTH_CLIENT_ID=id",
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("loading gives the warnings %q and %v, want none", warnings, err)
	}
	if c.AdminToken != token || c.RedisURL != "redis://h:1" || c.PostgresURL != "postgres://h/d" || c.OAuthClientSecret != "secret" {
		t.Errorf("the settings are %#v, want the secrets in the files", c)
	}
}

func TestInvalidSecretFilesAreExplained(t *testing.T) {
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
				t.Errorf("loading gives %q, want %q", err, test.want)
			}
		})
	}
}

func TestTheClientFindsItsAdminToken(t *testing.T) {
	dir := t.TempDir()
	c, err := config.LoadClient([]string{"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_SNAPSHOT_INTERVAL=nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	if c.URL != "http://127.0.0.1:8080" || c.OpsListen != "127.0.0.1:9464" {
		t.Errorf("the defaults are %+v", c)
	}
	if _, _, err := c.AdminToken(); !errors.Is(err, config.ErrNoAdminToken) {
		t.Errorf("without a token: %v, want ErrNoAdminToken", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "admin-token"), []byte("from-the-directory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, from, err := c.AdminToken(); got != "from-the-directory" || from != filepath.Join(dir, "admin-token") || err != nil {
		t.Errorf("the token is %q from %s (%v), want the data directory's", got, from, err)
	}

	c, err = config.LoadClient([]string{"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_ADMIN_TOKEN_FILE=" + file(t, "t", "from-the-file\n"), "LEVELBOARD_URL=https://x.example/"})
	if err != nil || c.URL != "https://x.example" {
		t.Fatalf("the client's settings are %+v (%v)", c, err)
	}
	if got, from, err := c.AdminToken(); got != "from-the-file" || from != "LEVELBOARD_ADMIN_TOKEN_FILE" || err != nil {
		t.Errorf("the token is %q from %s (%v), want the file's", got, from, err)
	}
	c, err = config.LoadClient([]string{"LEVELBOARD_DATA_DIR=" + dir, "LEVELBOARD_ADMIN_TOKEN=" + token})
	if err != nil {
		t.Fatal(err)
	}
	if got, from, err := c.AdminToken(); got != token || from != "LEVELBOARD_ADMIN_TOKEN" || err != nil {
		t.Errorf("the token is %q from %s (%v), want LEVELBOARD_ADMIN_TOKEN's", got, from, err)
	}

	if _, err := config.LoadClient([]string{"LEVELBOARD_URL=x.example:80"}); err == nil || !strings.HasPrefix(err.Error(), "LEVELBOARD_URL must be") {
		t.Errorf("a bad URL: %v, want an error that names LEVELBOARD_URL", err)
	}
}

func TestReplacedSecretsAreReadAgain(t *testing.T) {
	const redisURL, postgresURL = "redis://ada:first@h:1,i:2/0?pool_size=4", "postgres://ada:first@h,i/d?sslmode=verify-full"
	redisFile, postgresFile := file(t, "r", redisURL+"\n"), file(t, "p", postgresURL)
	c, _, err := config.Load([]string{
		"LEVELBOARD_REDIS_MODE=sentinel", "LEVELBOARD_REDIS_MASTER=m", "LEVELBOARD_REDIS_URL_FILE=" + redisFile,
		"LEVELBOARD_POSTGRES_URL_FILE=" + postgresFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, cases := range map[string]struct {
		now      func() (string, error)
		followed []string
		refused  []string
	}{
		redisFile: {
			c.RedisURLNow,
			[]string{redisURL, "redis://bob:second@h:1,i:2/0?pool_size=4", "redis://h:1,i:2/0?pool_size=4"},
			[]string{"redis://ada:sec", "redis://ada:second@h:1,i", "redis://ada:second@h:1,i:2/0", "redis://ada:second@h:1,i:2/1?pool_size=4", "rediss://ada:second@h:1,i:2/0?pool_size=4", "ada"},
		},
		postgresFile: {
			c.PostgresURLNow,
			[]string{postgresURL, "postgres://bob:second@h,i/d?sslmode=verify-full"},
			[]string{"postgres://ada:second@h,i/d", "postgres://ada:second@h,i/d?sslmode=", "postgres://ada:second@h,j/d?sslmode=verify-full"},
		},
	} {
		for _, secret := range cases.followed {
			if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if now, err := cases.now(); now != secret || err != nil {
				t.Errorf("the secret is now %q (%v), want %q", now, err, secret)
			}
		}
		for _, secret := range append(cases.refused, "", "\n") {
			if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
				t.Fatal(err)
			}
			if now, err := cases.now(); now != "" || err == nil || strings.Contains(err.Error(), "sec") {
				t.Errorf("with the file's content %q the secret is %q (%v), want an error without it", secret, now, err)
			}
		}
	}
	if shown := c.String() + c.GoString(); strings.Contains(shown, "first") || strings.Contains(shown, redisFile) {
		t.Error("a secret or its file's name is printed")
	}

	direct, _, err := config.Load([]string{"LEVELBOARD_REDIS_URL=redis://h", "LEVELBOARD_POSTGRES_URL=postgres://h/d"})
	if err != nil {
		t.Fatal(err)
	}
	if now, err := direct.RedisURLNow(); now != "redis://h" || err != nil {
		t.Errorf("a URL without a file is %q (%v), want redis://h", now, err)
	}
}
