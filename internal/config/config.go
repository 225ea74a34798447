// Package config holds the service's settings: typed, loaded from environment variables, validated together, and printable without
// their secrets. It connects to nothing. docs/configuration.md lists them; a test compares that table with the tags below.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"levelboard/internal/platform/secretfile"
)

// Prefix begins the name of each setting.
const Prefix = "LEVELBOARD_"

// RedisMode says which servers the Redis URL names.
type RedisMode string

// The Redis modes.
const (
	Single   RedisMode = "single"
	Cluster  RedisMode = "cluster"
	Sentinel RedisMode = "sentinel"
)

// LogFormat is how log records are written.
type LogFormat string

// The log formats.
const (
	Text LogFormat = "text"
	JSON LogFormat = "json"
)

// Config is the settings of one service, valid if it came from Load. Formatting or logging it never shows a secret, though its fields hold them.
type Config struct {
	Listen    string `env:"LISTEN" envDefault:"127.0.0.1:8080" desc:"Address of the API (/v2), /admin and the pages; :8080 in the container image."`
	OpsListen string `env:"OPS_LISTEN" envDefault:"127.0.0.1:9464" desc:"Address of /metrics, /livez, /readyz and /debug/pprof; :9464 in the container image. Keep it private."`

	RedisURL    string    `env:"REDIS_URL" secret:"url" desc:"Redis for the live boards: redis://, rediss:// or unix://. Needs LEVELBOARD_POSTGRES_URL too; with neither the service is embedded."`
	RedisMode   RedisMode `env:"REDIS_MODE" envDefault:"single" desc:"What the Redis URL names: single, one server; sentinel, sentinels; cluster, nodes of a Redis Cluster."`
	RedisMaster string    `env:"REDIS_MASTER" envDefault:"mymaster" desc:"Name of the master, for sentinel."`

	RedisSentinelUsername string `env:"REDIS_SENTINEL_USERNAME" desc:"User of the sentinels; the Redis URL holds the servers' user. Rarely needed."`
	RedisSentinelPassword string `env:"REDIS_SENTINEL_PASSWORD" secret:"all" desc:"Password of the sentinels; the Redis URL holds the servers' password."`

	// A request without Redis must get its 503 within a second. The minimum
	// leaves half of that second, the maximum half of a request's 10 seconds.
	RedisTimeout time.Duration `env:"REDIS_TIMEOUT" envDefault:"500ms" bounds:"500ms to 5s" desc:"How long Redis may be silent before requests and /readyz return 503, {bounds}. Raise it on machines short of CPU."`

	RedisWaitReplicas int           `env:"REDIS_WAIT_REPLICAS" envDefault:"0" bounds:"0 to 10" desc:"Redis replicas that must have a change before it is acknowledged, {bounds}; with fewer, changes get 503."`
	RedisWaitTimeout  time.Duration `env:"REDIS_WAIT_TIMEOUT" envDefault:"200ms" bounds:"1ms to 400ms" desc:"How long a change waits for them, {bounds}."`

	RedisCAFile   string `env:"REDIS_CA_FILE" desc:"PEM file of the authorities for Redis' certificate, in place of the system's. Needs rediss://."`
	RedisCertFile string `env:"REDIS_CERT_FILE" desc:"PEM file of a client certificate for Redis and the sentinels, for tls-auth-clients. Needs LEVELBOARD_REDIS_KEY_FILE."`
	RedisKeyFile  string `env:"REDIS_KEY_FILE" desc:"PEM file of that certificate's private key."`

	PostgresURL string `env:"POSTGRES_URL" secret:"url" desc:"Postgres for the archive: postgres:// or postgresql://. Needs LEVELBOARD_REDIS_URL too."`
	DataDir     string `env:"DATA_DIR" envDefault:"./levelboard-data" desc:"Embedded only: directory of the SQLite archive and of the file admin-token."`

	AdminToken       string        `env:"ADMIN_TOKEN" secret:"all" desc:"Token of /admin, at least 32 characters. Without it /admin is off; embedded makes one at its first start."`
	SnapshotInterval time.Duration `env:"SNAPSHOT_INTERVAL" envDefault:"5s" bounds:"100ms to 1h" desc:"How often changed members are written to the archive, {bounds}."`
	GuildIdle        time.Duration `env:"GUILD_IDLE" envDefault:"0s" bounds:"10m to 8760h" desc:"Time without use after which a guild leaves Redis until its next request, {bounds}; 0s is never. The same on every replica."`
	HistoryDays      int           `env:"HISTORY_DAYS" envDefault:"400" bounds:"30 to 3660" desc:"Days that daily gains and full boards of closed periods are kept, {bounds}; ranks 1 to 100 stay."`
	AuditDays        int           `env:"AUDIT_DAYS" envDefault:"400" bounds:"30 to 3660" desc:"Days that the audit log is kept, {bounds}."`
	IdempotencyTTL   time.Duration `env:"IDEMPOTENCY_TTL" envDefault:"4h" bounds:"2h to 24h" desc:"How long the record of a request with an Idempotency-Key is kept, {bounds}; an import that was cut off can be continued until an hour before that. The same on every replica."`
	ShutdownTimeout  time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"20s" bounds:"100ms to 10m" desc:"Time to finish requests and write the last snapshot at a stop, {bounds}."`

	RateLimitKey          int `env:"RATE_LIMIT_KEY" envDefault:"120" bounds:"0 to 2147483647" desc:"Requests a minute for each API key that has no limit of its own; 0 is no limit."`
	RateLimitIdentity     int `env:"RATE_LIMIT_IDENTITY" envDefault:"1500" bounds:"0 to 2147483647" desc:"Requests a minute for each identity (owner over all keys, signed-in user, or address); 0 is no limit."`
	ConnectionsPerAddress int `env:"CONNECTIONS_PER_ADDRESS" envDefault:"1024" bounds:"0 to 2147483647" desc:"Open connections of one address; 0 is no limit. Trusted proxies are exempt."`

	TrustedProxies []string `env:"TRUSTED_PROXIES" desc:"Proxies whose X-Forwarded-For is trusted: addresses or CIDR blocks, separated by commas."`
	// AllowedPrivateHosts are private hosts to which announcements may be posted.
	AllowedPrivateHosts []string `env:"ALLOWED_PRIVATE_HOSTS" desc:"Private addresses, CIDR blocks and host names that announcements may be posted to, also by http, separated by commas."`
	CORSOrigins         []string `env:"CORS_ORIGINS" envDefault:"*" desc:"Origins whose pages may GET under /v2, without credentials: * or origins separated by commas."`

	OAuthClientID     string `env:"OAUTH_CLIENT_ID" desc:"Client id of the sign-in; without it there is none."`
	OAuthClientSecret string `env:"OAUTH_CLIENT_SECRET" secret:"all" desc:"Client secret of the sign-in."`
	OAuthAuthURL      string `env:"OAUTH_AUTH_URL" envDefault:"https://discord.com/oauth2/authorize" desc:"Where users are sent to sign in."`
	OAuthTokenURL     string `env:"OAUTH_TOKEN_URL" envDefault:"https://discord.com/api/oauth2/token" desc:"Where the sign-in's code is exchanged."`
	OAuthAPIURL       string `env:"OAUTH_API_URL" envDefault:"https://discord.com/api/v10" desc:"Where the user and their guilds are read."`

	PublicURL string `env:"PUBLIC_URL" desc:"Base of links and of the sign-in's redirect, without a path; by default from LEVELBOARD_LISTEN."`

	FontDir string `env:"FONT_DIR" desc:"Folder of trusted fonts for names on PNG cards and previews."`

	LogLevel  slog.Level `env:"LOG_LEVEL" envDefault:"info" desc:"debug, info, warn or error."`
	LogFormat LogFormat  `env:"LOG_FORMAT" envDefault:"text" desc:"text or json."`

	secretFiles map[string]string // paths of the files that hold secrets, by setting
}

// Embedded reports whether the service runs on its in-process Redis and a SQLite archive.
func (c Config) Embedded() bool { return c.RedisURL == "" && c.PostgresURL == "" }

// Load reads the settings from environ (NAME=value); an empty value counts as not set. A secret may be in a file named by NAME_FILE.
// warnings are sentences about unknown names. err joins all mistakes, one sentence for each setting. Neither contains a secret.
func Load(environ []string) (c Config, warnings []string, err error) {
	vars := toMap(environ)
	failed := map[string]bool{}
	files, problems := resolveFiles(vars, failed)
	if err := env.ParseWithOptions(&c, env.Options{Environment: vars, Prefix: Prefix}); err != nil {
		sentences, names := explain(err)
		problems = append(problems, sentences...)
		for _, name := range names {
			failed[name] = true
		}
	}
	v := validator{failed: failed}
	v.check(&c)
	problems = append(problems, v.problems...)

	warnings = Unknown(environ)
	if len(problems) > 0 {
		return Config{}, warnings, errors.Join(problems...)
	}
	c.secretFiles = files
	return c, warnings, nil
}

// explain turns the parser's errors, which name Go fields and quote values, into sentences that name settings instead.
func explain(err error) (sentences []error, names []string) {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return []error{err}, nil
	}
	for _, e := range all.Errors {
		var p env.ParseError
		if !errors.As(e, &p) {
			sentences = append(sentences, e)
			continue
		}
		name := nameOf(p.Name)
		names = append(names, name)
		sentences = append(sentences, fmt.Errorf("%s must be %s", name, expectation(p.Type)))
	}
	return sentences, names
}

func expectation(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a duration such as 5s or 1m30s"
	case reflect.TypeFor[slog.Level]():
		return "debug, info, warn or error"
	default:
		return "a whole number from 0 to 2147483647"
	}
}

func toMap(environ []string) map[string]string {
	vars := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, Prefix) {
			vars[name] = value
		}
	}
	return vars
}

// Unknown returns a sentence for each name in environ that begins with Prefix but is no setting, in alphabetical order. It quotes no values.
func Unknown(environ []string) (sentences []string) {
	known := map[string]bool{}
	for _, s := range Describe() {
		known[s.Name] = true
		known[s.Name+secretfile.Suffix] = s.Secret
	}
	for _, name := range slices.Sorted(maps.Keys(toMap(environ))) {
		if !known[name] {
			sentences = append(sentences, name+" is not a setting; it has no effect")
		}
	}
	return sentences
}
