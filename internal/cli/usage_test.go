package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

func TestWrongUsageExitsWith2(t *testing.T) {
	t.Chdir(t.TempDir())
	environ := []string{"LEVELBOARD_URL=http://127.0.0.1:1", "LEVELBOARD_ADMIN_TOKEN=" + strings.Repeat("x", 32)}
	create := []string{"key", "create", "--name", "n", "--owner", "100000000000000001", "--permission", "read"}
	for _, test := range []struct {
		says string
		args []string
	}{
		{"a command is missing\nUsage: levelboard COMMAND\n", nil},
		{"a command is missing", []string{"guild"}},
		{`"servr" is not a command; did you mean serve?`, []string{"servr"}},
		{`"frobnicate" is not a command`, []string{"key", "frobnicate"}},
		{"unknown flag: --port", []string{"serve", "--port", "1"}},
		{"\"now\" is one argument too many\nUsage: levelboard serve", []string{"serve", "now"}},
		{"ID is missing\nUsage: levelboard guild get ID", []string{"guild", "get"}},
		{"GUILDID is missing\nUsage: levelboard key grant KEYID GUILDID", []string{"key", "grant", "k"}},
		{"\"more\" is one argument too many\nUsage: levelboard key revoke KEYID", []string{"key", "revoke", "k", "more"}},
		{"a guild's id must be 17 to 19 digits", []string{"guild", "get", "12"}},
		{"a guild's id must be 17 to 19 digits", []string{"guild", "delete", "../keys"}},
		{"KEYID is not a key's id", []string{"key", "ungrant", "k", "x"}},
		{"a guild's id must be 17 to 19 digits", []string{"key", "grant", "Abc123xyzZ09", "x"}},
		{"KEYID is not a key's id", []string{"key", "grant", "nope", "100000000000000001"}},
		{"KEYID is not a key's id", []string{"key", "ungrant", "nope", "100000000000000001"}},
		{"KEYID is not a key's id", []string{"key", "revoke", "nope"}},
		{`"file" not set`, []string{"guild", "apply"}},
		{`"name", "owner", "permission" not set`, []string{"key", "create"}},
		{"--permission must be read or read_write", append(create, "--permission", "write")},
		{"--owner must be 17 to 19 digits", append(create, "--owner", "me")},
		{"--guild must be 17 to 19 digits", append(create, "--guild", "1")},
		{"levelboard: --expires takes hours or days, such as 720h or 30d\n", append(create, "--expires", "-1h")},
		{"--expires takes hours or days", append(create, "--expires", "0d")},
		{"levelboard: --expires takes hours or days, such as 720h or 30d\n", append(create, "--expires", "tomorrow")},
		{"--expires takes hours or days", append(create, "--expires", "1.5d")},
		{"--expires takes hours or days", append(create, "--expires", "")},
		{"--expires takes hours or days", append(create, "--expires", "106752d")},
		{"--rate-limit must be 0 or more", append(create, "--rate-limit", "-1")},
		{"Usage: levelboard checkpoint restore ID --guild ID", []string{"checkpoint", "restore"}},
		{`"guild" not set`, []string{"checkpoint", "list"}},
		{`"name" not set`, []string{"checkpoint", "create", "--guild", "100000000000000001"}},
		{"a checkpoint's id is a number", []string{"checkpoint", "delete", "../reset", "--guild", "100000000000000001", "--yes"}},
		{"a guild's id must be 17 to 19 digits", []string{"reset", "--guild", "12", "--yes"}},
		{"Usage: levelboard user erase ID", []string{"user", "erase"}},
		{"a user's id must be 17 to 19 digits", []string{"user", "show", "../keys"}},
		{"a user's id must be 17 to 19 digits", []string{"user", "erase", "12", "--yes"}},
		{"--format must be json or csv", []string{"export", "--guild", "100000000000000001", "--format", "xml"}},
		{`"guild" not set`, []string{"import", "x.json"}},
		{"a file is missing", []string{"import", "--guild", "100000000000000001", "--yes"}},
		{`--from: "mee7" is no source`, []string{"import", "x", "--guild", "100000000000000001", "--from", "mee7"}},
		{"--mode must be one of set, higher, add, missing", []string{"import", "x", "--guild", "100000000000000001", "--mode", "Set"}},
		{"--min-level must be from 0 to 10000", []string{"import", "x", "--guild", "100000000000000001", "--min-level", "10001"}},
		{"give files or --source-url, not both", []string{"import", "x", "--guild", "100000000000000001", "--source-url", "http://h"}},
		{"--source-url must be an http://", []string{"import", "--guild", "100000000000000001", "--source-url", "h"}},
		{"--source-url needs --source-guild", []string{"import", "--guild", "100000000000000001", "--source-url", "http://h"}},
		{"--again is for --mode add", []string{"import", "x", "--guild", "100000000000000001", "--again"}},
		{"--url must be an http://", []string{"guild", "list", "--url", "localhost:8080"}},
		{"--members must be from 1", []string{"demo", "--members", "0"}},
		{"--rate must be from 0", []string{"demo", "--rate", "-1"}},
		{"--rate must be from 0", []string{"demo", "--rate", "NaN"}},
	} {
		fail(t, environ, exitUsage, test.says, test.args...)
	}
}

func TestHelpExitsWith0(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"guild", "--help"}, {"help", "key", "create"}} {
		if out := succeed(t, nil, "", args...); !strings.Contains(out, "Usage:") {
			t.Errorf("%v prints no usage: %s", args, out)
		}
	}
}

func TestHelpDescribesArguments(t *testing.T) {
	for says, args := range map[string][]string{
		`{"id":"…","name":"…","memberCount":1,"ownerId":"…"}`:               {"guild", "apply", "--help"},
		"KEYID is what 'key list' shows, or the key's first 15 characters.": {"key", "revoke", "--help"},
	} {
		if out := succeed(t, nil, "", args...); !strings.Contains(out, says) {
			t.Errorf("%v does not print %q:\n%s", args, says, out)
		}
	}
}

func TestVersionIsPrinted(t *testing.T) {
	out := succeed(t, nil, "", "version")
	if !strings.HasPrefix(out, "levelboard ") || !strings.Contains(out, "go1.") {
		t.Errorf("version prints %q, want levelboard's and Go's", out)
	}
	if flag := succeed(t, nil, "", "--version"); flag != out {
		t.Errorf("--version prints %q, want %q as the command", flag, out)
	}
}

func TestFailuresExitWith1(t *testing.T) {
	t.Chdir(t.TempDir())
	fail(t, nil, exitFailed, "no admin token: give it with --admin-token, LEVELBOARD_ADMIN_TOKEN or LEVELBOARD_ADMIN_TOKEN_FILE,", "guild", "list")

	address := testenv.FreeAddr(t)
	fail(t, []string{"LEVELBOARD_URL=http://" + address}, exitFailed,
		"nothing listens at http://"+address+": start the service with 'levelboard serve'", "key", "list", "--admin-token", "x")
	fail(t, []string{"LEVELBOARD_OPS_LISTEN=" + address}, exitFailed, "not ready: http://"+address+"/readyz does not answer", "healthcheck")
	fail(t, []string{"LEVELBOARD_OPS_LISTEN=nowhere"}, exitFailed, "LEVELBOARD_OPS_LISTEN must be an address", "healthcheck")

	for _, command := range [][]string{{"serve"}, {"migrate", "up"}, {"migrate", "status"}, {"config", "print"}, {"config", "check"}} {
		fail(t, []string{"LEVELBOARD_REDIS_URL=redis://h"}, exitFailed, "LEVELBOARD_POSTGRES_URL is missing", command...)
	}
}

func TestBadDocumentsExitWith1(t *testing.T) {
	environ := []string{"LEVELBOARD_ADMIN_TOKEN=x", "LEVELBOARD_URL=http://127.0.0.1:1"}
	const broken = "is no guild's document, as 'levelboard guild get ID --json' prints it: "
	for content, says := range map[string]string{
		`{"name":"x"}`: `has no id: add the guild's id as "id"`,
		`{"id":null}`:  `has no id: add the guild's id as "id"`,
		`null`:         `has no id: add the guild's id as "id"`,
		`{"id":12}`:    broken + "it must be an object with the guild's id as text",
		`[{"id":"1"}]`: broken + "it must be an object with the guild's id as text",
		// The rest of these messages is the JSON library's.
		``:                     broken,
		`{"id":"1"`:            broken,
		`name: not-json`:       broken,
		`{"id":"1"} {}`:        broken,
		"\ufeff{\"id\":\"1\"}": broken,
		"\xff\xfe{\x00}\x00":   broken,
	} {
		path := filepath.Join(t.TempDir(), "guild.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		fail(t, environ, exitFailed, "levelboard: "+path+" "+says, "guild", "apply", "-f", path)
	}
	for content, says := range map[string]string{`{"id":"12"}`: "must be 17 to 19 digits", largerThanDocument: "is too long"} {
		path := filepath.Join(t.TempDir(), "guild.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		fail(t, environ, exitFailed, says, "guild", "apply", "-f", path)
	}
	fail(t, environ, exitFailed, "cannot be opened", "guild", "apply", "-f", filepath.Join(t.TempDir(), "none.json"))
	fail(t, environ, exitFailed, "levelboard: standard input is no guild's document", "guild", "apply", "-f", "-")
}

var largerThanDocument = `{"id":"100000000000000001"` + strings.Repeat(" ", maxDocument) + `}`
