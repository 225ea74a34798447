package config_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"levelboard/internal/config"
	"levelboard/internal/testing/testenv"
)

const token = "0123456789abcdef0123456789abcdef"

var stores = []string{"LEVELBOARD_REDIS_URL=redis://localhost:6379/0", "LEVELBOARD_POSTGRES_URL=postgres://localhost/levelboard"}

func TestAnEmptyEnvironmentGivesTheDefaults(t *testing.T) {
	c, warnings, err := config.Load([]string{"PATH=/bin", "LEVELBOARD_REDIS_URL=", "LEVELBOARD_LISTEN="})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("an empty environment gives the warnings %q and %v, want none", warnings, err)
	}
	want := config.Config{
		Listen: "127.0.0.1:8080", OpsListen: "127.0.0.1:9464",
		RedisMode: config.Single, RedisMaster: "mymaster", DataDir: "./levelboard-data", RedisTimeout: 500 * time.Millisecond, RedisWaitTimeout: 200 * time.Millisecond,
		SnapshotInterval: 5 * time.Second, HistoryDays: 400, AuditDays: 400, IdempotencyTTL: 4 * time.Hour, ShutdownTimeout: 20 * time.Second,
		RateLimitKey: 120, RateLimitIdentity: 1500, ConnectionsPerAddress: 1024, CORSOrigins: []string{"*"},
		OAuthAuthURL:  "https://discord.com/oauth2/authorize",
		OAuthTokenURL: "https://discord.com/api/oauth2/token",
		OAuthAPIURL:   "https://discord.com/api/v10",
		LogLevel:      slog.LevelInfo, LogFormat: config.Text,
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("the defaults are\n%vwant\n%v", c, want)
	}
	if !c.Embedded() {
		t.Error("without stores the service is not embedded")
	}
}

func TestEverySettingIsRead(t *testing.T) {
	c, warnings, err := config.Load([]string{
		"LEVELBOARD_LISTEN=:8080", "LEVELBOARD_OPS_LISTEN=[::1]:9000",
		"LEVELBOARD_REDIS_URL=rediss://u:p@redis:6379/3?protocol=3", "LEVELBOARD_REDIS_MODE=single", "LEVELBOARD_REDIS_MASTER=m",
		"LEVELBOARD_REDIS_WAIT_REPLICAS=2", "LEVELBOARD_REDIS_TIMEOUT=2s", "LEVELBOARD_REDIS_WAIT_TIMEOUT=300ms",
		"LEVELBOARD_POSTGRES_URL=postgresql://u:p@pg/db", "LEVELBOARD_DATA_DIR=/data", "LEVELBOARD_ADMIN_TOKEN=" + token,
		"LEVELBOARD_SNAPSHOT_INTERVAL=1m30s", "LEVELBOARD_HISTORY_DAYS=30", "LEVELBOARD_AUDIT_DAYS=31", "LEVELBOARD_IDEMPOTENCY_TTL=24h", "LEVELBOARD_SHUTDOWN_TIMEOUT=3s", "LEVELBOARD_GUILD_IDLE=36h",
		"LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=7", "LEVELBOARD_CONNECTIONS_PER_ADDRESS=9",
		"LEVELBOARD_TRUSTED_PROXIES=10.0.0.0/8, ::1,", "LEVELBOARD_ALLOWED_PRIVATE_HOSTS=10.1.0.0/16, hooks.internal,", "LEVELBOARD_CORS_ORIGINS=https://a.example , http://localhost:3000",
		"LEVELBOARD_OAUTH_CLIENT_ID=id", "LEVELBOARD_OAUTH_CLIENT_SECRET=s", "LEVELBOARD_OAUTH_AUTH_URL=https://x.example/a",
		"LEVELBOARD_OAUTH_TOKEN_URL=https://x.example/t", "LEVELBOARD_OAUTH_API_URL=https://x.example/api/",
		"LEVELBOARD_PUBLIC_URL=https://levels.example/", "LEVELBOARD_LOG_LEVEL=debug", "LEVELBOARD_LOG_FORMAT=json",
		"LEVELBOARD_URL=http://elsewhere:1",
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("loading every setting gives the warnings %q and %v, want none", warnings, err)
	}
	want := config.Config{
		Listen: ":8080", OpsListen: "[::1]:9000",
		RedisURL: "rediss://u:p@redis:6379/3?protocol=3", RedisMode: config.Single, RedisMaster: "m",
		RedisWaitReplicas: 2, RedisTimeout: 2 * time.Second, RedisWaitTimeout: 300 * time.Millisecond,
		PostgresURL: "postgresql://u:p@pg/db", DataDir: "/data", AdminToken: token,
		SnapshotInterval: 90 * time.Second, HistoryDays: 30, AuditDays: 31, IdempotencyTTL: 24 * time.Hour, ShutdownTimeout: 3 * time.Second, GuildIdle: 36 * time.Hour,
		RateLimitIdentity: 7, ConnectionsPerAddress: 9,
		TrustedProxies: []string{"10.0.0.0/8", "::1"}, AllowedPrivateHosts: []string{"10.1.0.0/16", "hooks.internal"}, CORSOrigins: []string{"https://a.example", "http://localhost:3000"},
		OAuthClientID: "id", OAuthClientSecret: "s", OAuthAuthURL: "https://x.example/a",
		OAuthTokenURL: "https://x.example/t", OAuthAPIURL: "https://x.example/api",
		PublicURL: "https://levels.example", LogLevel: slog.LevelDebug, LogFormat: config.JSON,
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("the settings are\n%#v\nwant\n%#v", c, want)
	}
	if c.Embedded() {
		t.Error("with both stores the service is embedded")
	}
}

func TestALocalSignInProviderMayUseHTTP(t *testing.T) {
	for _, host := range []string{"127.0.0.1:9000", "localhost", "[::1]:9000"} {
		_, _, err := config.Load([]string{
			"LEVELBOARD_OAUTH_CLIENT_ID=i", "LEVELBOARD_OAUTH_CLIENT_SECRET=s", "LEVELBOARD_OAUTH_AUTH_URL=http://" + host + "/a",
			"LEVELBOARD_OAUTH_TOKEN_URL=http://" + host + "/t", "LEVELBOARD_OAUTH_API_URL=http://" + host + "/api",
		})
		if err != nil {
			t.Errorf("a provider at %s: %v, want it accepted", host, err)
		}
	}
}

func TestInvalidSettingsAreExplained(t *testing.T) {
	for _, test := range []struct {
		environ []string
		want    string
	}{
		{[]string{"OAUTH_CLIENT_ID=i", "OAUTH_CLIENT_SECRET=s", "PUBLIC_URL=http://levels.example"}, "LEVELBOARD_PUBLIC_URL must begin with https://"},
		{[]string{"PUBLIC_URL=https://levels.example/board"}, "LEVELBOARD_PUBLIC_URL must not have a path"},
		{[]string{"OAUTH_CLIENT_ID=i", "OAUTH_CLIENT_SECRET=s", "LISTEN=192.0.2.1:80"}, "LEVELBOARD_PUBLIC_URL is missing"},
		{[]string{"LISTEN=8080"}, "LEVELBOARD_LISTEN must be an address to listen on"},
		{[]string{"LISTEN=localhost:70000"}, "LEVELBOARD_LISTEN must be an address"},
		{[]string{"LISTEN=http://x:80"}, "LEVELBOARD_LISTEN must be an address"},
		{[]string{"OPS_LISTEN=x:"}, "LEVELBOARD_OPS_LISTEN must be an address"},
		{[]string{"OPS_LISTEN=127.0.0.1:8080"}, "LEVELBOARD_OPS_LISTEN must be another port"},
		{[]string{"OPS_LISTEN=:8080"}, "LEVELBOARD_OPS_LISTEN must be another port"},
		{[]string{"LISTEN=0.0.0.0:9464"}, "LEVELBOARD_OPS_LISTEN must be another port"},
		{[]string{"REDIS_URL=redis://h"}, "LEVELBOARD_POSTGRES_URL is missing"},
		{[]string{"POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL is missing"},
		{[]string{"REDIS_URL=http://h", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must begin with redis://"},
		{[]string{"REDIS_URL=localhost:6379", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must begin with redis://"},
		{[]string{"REDIS_URL=redis://", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name its hosts"},
		{[]string{"REDIS_URL=redis://h:0", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name its hosts"},
		{[]string{"REDIS_URL=redis://a:1,:2", "REDIS_MODE=cluster", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name its hosts"},
		{[]string{"REDIS_URL=redis://:se/cret@h:1", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name its hosts"},
		{[]string{"REDIS_URL=redis://:%zz@h:1", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name its hosts"},
		{[]string{"REDIS_URL=redis://h:1/zero", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must end in the number of a database"},
		{[]string{"REDIS_URL=redis://h:1/-1", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must end in the number of a database"},
		{[]string{"REDIS_URL=unix://run/redis.sock", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name the socket"},
		{[]string{"REDIS_URL=redis://a:1,b:2/0", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL names several hosts, which needs LEVELBOARD_REDIS_MODE cluster or sentinel"},
		{[]string{"REDIS_SENTINEL_PASSWORD=se/cret"}, "LEVELBOARD_REDIS_SENTINEL_PASSWORD is for sentinels, but LEVELBOARD_REDIS_MODE is single"},
		{[]string{"REDIS_SENTINEL_USERNAME=x"}, "LEVELBOARD_REDIS_SENTINEL_PASSWORD is missing"},
		{[]string{"REDIS_URL=redis://h", "REDIS_CA_FILE=/x"}, "LEVELBOARD_REDIS_CA_FILE is for TLS"},
		{[]string{"REDIS_URL=unix:///s", "REDIS_CERT_FILE=/x"}, "LEVELBOARD_REDIS_CERT_FILE is for TLS"},
		{[]string{"REDIS_WAIT_REPLICAS=1"}, "LEVELBOARD_REDIS_WAIT_REPLICAS is for replicas of a Redis"},
		{[]string{"REDIS_WAIT_REPLICAS=11"}, "LEVELBOARD_REDIS_WAIT_REPLICAS must be a whole number from 0 to 10"},
		{[]string{"REDIS_WAIT_REPLICAS=all"}, "LEVELBOARD_REDIS_WAIT_REPLICAS must be a whole number"},
		{[]string{"REDIS_TIMEOUT=499ms"}, "LEVELBOARD_REDIS_TIMEOUT must be from 500ms to 5s"},
		{[]string{"REDIS_TIMEOUT=6s"}, "LEVELBOARD_REDIS_TIMEOUT must be from 500ms to 5s"},
		{[]string{"REDIS_WAIT_TIMEOUT=0s"}, "LEVELBOARD_REDIS_WAIT_TIMEOUT must be from 1ms to 400ms"},
		{[]string{"REDIS_WAIT_TIMEOUT=500ms"}, "LEVELBOARD_REDIS_WAIT_TIMEOUT must be from 1ms to 400ms"},
		{[]string{"REDIS_URL=rediss://h", "REDIS_CERT_FILE=/x"}, "LEVELBOARD_REDIS_KEY_FILE is missing"},
		{[]string{"REDIS_URL=rediss://h", "REDIS_KEY_FILE=/x"}, "LEVELBOARD_REDIS_CERT_FILE is missing"},
		{[]string{"REDIS_URL=rediss://h", "REDIS_CA_FILE=/nonexistent/x"}, "LEVELBOARD_REDIS_CA_FILE cannot be read: no such file"},
		{[]string{"REDIS_URL=rediss://h", "REDIS_CA_FILE=config.go"}, "LEVELBOARD_REDIS_CA_FILE holds no certificate in PEM"},
		{[]string{"REDIS_URL=rediss://h", "REDIS_CERT_FILE=config.go", "REDIS_KEY_FILE=config.go"}, "LEVELBOARD_REDIS_CERT_FILE and LEVELBOARD_REDIS_KEY_FILE are not a certificate and its private key"},
		{[]string{"REDIS_URL=rediss://h", "REDIS_CERT_FILE=config.go", "REDIS_KEY_FILE=/nonexistent/x"}, "LEVELBOARD_REDIS_KEY_FILE cannot be read: no such file"},
		{[]string{"REDIS_URL=redis://a:1/2", "REDIS_MODE=cluster", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must not name a database"},
		{[]string{"REDIS_URL=unix:///run/redis.sock", "REDIS_MODE=sentinel", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_URL must name hosts, not a socket"},
		{[]string{"REDIS_URL=redis://a:1", "REDIS_MODE=sentinel", "REDIS_MASTER= ", "POSTGRES_URL=postgres://h/d"}, "LEVELBOARD_REDIS_MASTER must be the name"},
		{[]string{"REDIS_MODE=cluster"}, "LEVELBOARD_REDIS_URL is missing: LEVELBOARD_REDIS_MODE is cluster"},
		{[]string{"REDIS_MODE=replicated"}, "LEVELBOARD_REDIS_MODE must be single, cluster or sentinel"},
		{[]string{"REDIS_URL=redis://h", "POSTGRES_URL=mysql://h/d"}, "LEVELBOARD_POSTGRES_URL must be a URL such as"},
		{[]string{"REDIS_URL=redis://h", "POSTGRES_URL=host=h dbname=d"}, "LEVELBOARD_POSTGRES_URL must be a URL such as"},
		{[]string{"REDIS_URL=redis://h", "POSTGRES_URL=postgres://u:%zz@h/d"}, "LEVELBOARD_POSTGRES_URL must be a URL such as"},
		{[]string{"DATA_DIR= "}, "LEVELBOARD_DATA_DIR must be a directory"},
		{[]string{"ADMIN_TOKEN=" + token[1:]}, "LEVELBOARD_ADMIN_TOKEN must be at least 32 characters long"},
		{[]string{"ADMIN_TOKEN=" + token + " x"}, "LEVELBOARD_ADMIN_TOKEN must be letters, digits and signs of ASCII"},
		{[]string{"SNAPSHOT_INTERVAL=5"}, "LEVELBOARD_SNAPSHOT_INTERVAL must be a duration such as 5s"},
		{[]string{"SNAPSHOT_INTERVAL=-5s"}, "LEVELBOARD_SNAPSHOT_INTERVAL must be from 100ms to 1h"},
		{[]string{"SNAPSHOT_INTERVAL=61m"}, "LEVELBOARD_SNAPSHOT_INTERVAL must be from 100ms to 1h"},
		{[]string{"HISTORY_DAYS=29"}, "LEVELBOARD_HISTORY_DAYS must be a whole number from 30 to 3660"},
		{[]string{"HISTORY_DAYS=3661"}, "LEVELBOARD_HISTORY_DAYS must be a whole number from 30 to 3660"},
		{[]string{"AUDIT_DAYS=3661"}, "LEVELBOARD_AUDIT_DAYS must be a whole number from 30 to 3660"},
		{[]string{"IDEMPOTENCY_TTL=90m"}, "LEVELBOARD_IDEMPOTENCY_TTL must be from 2h to 24h"},
		{[]string{"GUILD_IDLE=9m59s"}, "LEVELBOARD_GUILD_IDLE must be from 10m to 8760h, or 0s for never"},
		{[]string{"GUILD_IDLE=-1h"}, "LEVELBOARD_GUILD_IDLE must be from 10m to 8760h, or 0s for never"},
		{[]string{"GUILD_IDLE=8761h"}, "LEVELBOARD_GUILD_IDLE must be from 10m to 8760h, or 0s for never"},
		{[]string{"SHUTDOWN_TIMEOUT=0s"}, "LEVELBOARD_SHUTDOWN_TIMEOUT must be from 100ms to 10m"},
		{[]string{"RATE_LIMIT_KEY=-1"}, "LEVELBOARD_RATE_LIMIT_KEY must be a whole number from 0 to 2147483647"},
		{[]string{"RATE_LIMIT_IDENTITY=1.5"}, "LEVELBOARD_RATE_LIMIT_IDENTITY must be a whole number from 0 to 2147483647"},
		{[]string{"RATE_LIMIT_IDENTITY=2147483648"}, "LEVELBOARD_RATE_LIMIT_IDENTITY must be a whole number from 0 to 2147483647"},
		{[]string{"ALLOWED_PRIVATE_HOSTS=10.0.0.1,http://hooks.local"}, `LEVELBOARD_ALLOWED_PRIVATE_HOSTS holds "http://hooks.local"`},
		{[]string{"TRUSTED_PROXIES=10.0.0.1,proxy.local"}, `LEVELBOARD_TRUSTED_PROXIES holds "proxy.local"`},
		{[]string{"TRUSTED_PROXIES=10.0.0.0/33"}, `LEVELBOARD_TRUSTED_PROXIES holds "10.0.0.0/33"`},
		{[]string{"TRUSTED_PROXIES=10.0.0.1,0.0.0.0/0"}, `LEVELBOARD_TRUSTED_PROXIES holds "0.0.0.0/0", which trusts everybody`},
		{[]string{"TRUSTED_PROXIES=203.0.113.9/0"}, `LEVELBOARD_TRUSTED_PROXIES holds "203.0.113.9/0", which trusts everybody`},
		{[]string{"TRUSTED_PROXIES=::/0"}, `LEVELBOARD_TRUSTED_PROXIES holds "::/0", which trusts everybody`},
		{[]string{"TRUSTED_PROXIES=::ffff:0.0.0.0/96"}, `LEVELBOARD_TRUSTED_PROXIES holds "::ffff:0.0.0.0/96", which trusts everybody`},
		{[]string{"CORS_ORIGINS=*,https://a.example"}, "LEVELBOARD_CORS_ORIGINS must be * alone"},
		{[]string{"CORS_ORIGINS=https://a.example/path"}, "LEVELBOARD_CORS_ORIGINS holds an entry (number 1)"},
		{[]string{"CORS_ORIGINS=https://a.example,a.example"}, "LEVELBOARD_CORS_ORIGINS holds an entry (number 2)"},
		{[]string{"OAUTH_CLIENT_ID=x"}, "LEVELBOARD_OAUTH_CLIENT_SECRET is missing"},
		{[]string{"OAUTH_CLIENT_SECRET=x"}, "LEVELBOARD_OAUTH_CLIENT_ID is missing"},
		{[]string{"OAUTH_AUTH_URL=discord.com"}, "LEVELBOARD_OAUTH_AUTH_URL must be an http:// or https:// URL"},
		{[]string{"OAUTH_TOKEN_URL=ftp://x"}, "LEVELBOARD_OAUTH_TOKEN_URL must be an http:// or https:// URL"},
		{[]string{"OAUTH_API_URL=https://u:p@x"}, "LEVELBOARD_OAUTH_API_URL must be an http:// or https:// URL"},
		{[]string{"OAUTH_CLIENT_ID=i", "OAUTH_CLIENT_SECRET=s", "OAUTH_AUTH_URL=http://id.example/a"}, "LEVELBOARD_OAUTH_AUTH_URL must begin with https://"},
		{[]string{"OAUTH_CLIENT_ID=i", "OAUTH_CLIENT_SECRET=s", "OAUTH_TOKEN_URL=http://id.example/t"}, "LEVELBOARD_OAUTH_TOKEN_URL must begin with https://"},
		{[]string{"OAUTH_CLIENT_ID=i", "OAUTH_CLIENT_SECRET=s", "OAUTH_API_URL=http://192.0.2.1/api"}, "LEVELBOARD_OAUTH_API_URL must begin with https://"},
		{[]string{"PUBLIC_URL=https://x?y=1"}, "LEVELBOARD_PUBLIC_URL must be an http:// or https:// URL"},
		{[]string{"LOG_LEVEL=loud"}, "LEVELBOARD_LOG_LEVEL must be debug, info, warn or error"},
		{[]string{"LOG_LEVEL=info+1"}, "LEVELBOARD_LOG_LEVEL must be debug, info, warn or error"},
		{[]string{"LOG_FORMAT=xml"}, "LEVELBOARD_LOG_FORMAT must be text or json"},
	} {
		t.Run(strings.Join(test.environ, " "), func(t *testing.T) {
			var environ []string
			for _, kv := range test.environ {
				environ = append(environ, "LEVELBOARD_"+kv)
			}
			c, _, err := config.Load(environ)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("loading gives %v, want %q", err, test.want)
			}
			if !reflect.DeepEqual(c, config.Config{}) {
				t.Error("an error comes with settings, want none")
			}
			for _, secret := range []string{"se/cret", "%zz", token[1:]} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error %q contains a secret", err)
				}
			}
		})
	}
}

func TestAllProblemsAreReportedOnce(t *testing.T) {
	_, _, err := config.Load([]string{
		"LEVELBOARD_LISTEN=x", "LEVELBOARD_SNAPSHOT_INTERVAL=soon", "LEVELBOARD_RATE_LIMIT_KEY=many",
		"LEVELBOARD_LOG_LEVEL=loud", "LEVELBOARD_LOG_FORMAT=xml",
	})
	if err == nil {
		t.Fatal("loading five invalid settings gives no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d problems are reported, want 5:\n%v", len(lines), err)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "LEVELBOARD_") {
			t.Errorf("the problem %q does not begin with the setting's name", line)
		}
	}
}

func TestSettingsOfRedisTLSAndSentinels(t *testing.T) {
	ca := testenv.NewCA(t)
	pair := ca.Issue("levelboard")
	c, warnings, err := config.Load([]string{
		"LEVELBOARD_REDIS_URL=rediss://u:hunter2@a:1,b", stores[1], "LEVELBOARD_REDIS_MODE=sentinel",
		"LEVELBOARD_REDIS_SENTINEL_USERNAME=s", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=hunter2",
		"LEVELBOARD_REDIS_CA_FILE=" + ca.File(), "LEVELBOARD_REDIS_CERT_FILE=" + pair.CertFile, "LEVELBOARD_REDIS_KEY_FILE=" + pair.KeyFile,
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("loading gives the warnings %q and %v, want none", warnings, err)
	}
	if read, err := c.RedisTLS(); err != nil || read.RootCAs == nil || len(read.Certificates) != 1 {
		t.Errorf("the TLS configuration is %+v (%v), want the authority and one certificate", read, err)
	}
	if strings.Contains(c.String(), "hunter2") || !strings.Contains(c.String(), "LEVELBOARD_REDIS_SENTINEL_PASSWORD=[redacted]\n") {
		t.Errorf("the sentinels' password is not redacted:\n%s", c)
	}
	if read, err := (config.Config{}).RedisTLS(); read != nil || err != nil {
		t.Errorf("without files the TLS configuration is %+v (%v), want none", read, err)
	}
}

func TestValidRedisURLsAreAccepted(t *testing.T) {
	for _, url := range []string{
		"redis://h", "redis://h:6379", "redis://:p%2Fw@h:1/2", "rediss://u:p@h:1/0?db=1", "redis://[::1]:6379/0",
		"unix:///run/redis.sock?db=2", "unix://u:p@/run/redis.sock",
	} {
		if _, _, err := config.Load([]string{"LEVELBOARD_REDIS_URL=" + url, stores[1]}); err != nil {
			t.Errorf("the URL %s: %v, want it accepted", url, err)
		}
	}
}

func TestUnknownSettingsAreWarnedAbout(t *testing.T) {
	environ := []string{"LEVELBOARD_LISTN=x", "LEVELBOARD_ADMIN_TOKN=" + token, "LEVELBOARD_COLOUR=green", "LEVELBOARD_LISTEN_FILE=x", "OTHER=1", "LEVELBOARD_URL=http://x"}
	want := []string{
		"LEVELBOARD_ADMIN_TOKN is not a setting; it has no effect",
		"LEVELBOARD_COLOUR is not a setting; it has no effect",
		"LEVELBOARD_LISTEN_FILE is not a setting; it has no effect",
		"LEVELBOARD_LISTN is not a setting; it has no effect",
	}
	_, warnings, err := config.Load(environ)
	if err != nil || !reflect.DeepEqual(warnings, want) {
		t.Errorf("loading gives %v and the warnings\n%s\nwant\n%s", err, strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
	if got := config.Unknown(environ); !reflect.DeepEqual(got, want) {
		t.Errorf("Unknown returns %q, want %q", got, want)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	c, _, err := config.Load([]string{
		"LEVELBOARD_REDIS_URL=redis://bot:p@hunter2@redis:6379/1?password=hunter2",
		"LEVELBOARD_POSTGRES_URL=postgres://hunter2@pg/db?sslmode=disable&sslpassword=hunter2&pass%77ord=hunter2",
		"LEVELBOARD_ADMIN_TOKEN=hunter2" + token,
		"LEVELBOARD_OAUTH_CLIENT_ID=id", "LEVELBOARD_OAUTH_CLIENT_SECRET=hunter2",
	})
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("settings", "config", c)
	for _, text := range []string{c.String(), logged.String(), fmt.Sprintf("%v %+v %s %#v", c, c, c, c)} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, token) {
			t.Errorf("a secret is printed:\n%s", text)
		}
	}
	for _, line := range []string{
		"LEVELBOARD_LISTEN=127.0.0.1:8080", "LEVELBOARD_SNAPSHOT_INTERVAL=5s", "LEVELBOARD_LOG_LEVEL=info", "LEVELBOARD_CORS_ORIGINS=*",
		"LEVELBOARD_REDIS_URL=redis://bot:[redacted]@redis:6379/1?password=[redacted]",
		"LEVELBOARD_POSTGRES_URL=postgres://[redacted]@pg/db?sslmode=disable&sslpassword=[redacted]&pass%77ord=[redacted]",
		"LEVELBOARD_ADMIN_TOKEN=[redacted]", "LEVELBOARD_OAUTH_CLIENT_ID=id", "LEVELBOARD_OAUTH_CLIENT_SECRET=[redacted]", "LEVELBOARD_PUBLIC_URL=",
	} {
		if !strings.Contains("\n"+c.String(), "\n"+line+"\n") {
			t.Errorf("the printed settings lack the line %q:\n%s", line, c.String())
		}
	}
}
