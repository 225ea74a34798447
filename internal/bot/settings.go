package bot

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"levelboard/internal/platform/secretfile"
)

// Settings are the bot's, from the environment. docs/bot.md lists them; a test keeps that table equal to the tags.
type Settings struct {
	Token      string     `env:"DISCORD_TOKEN" secret:"true" desc:"The bot's token, from Discord's developer portal. Required."`
	URL        string     `env:"LEVELBOARD_URL" envDefault:"http://127.0.0.1:8080" desc:"Where Levelboard is."`
	AdminToken string     `env:"LEVELBOARD_ADMIN_TOKEN" secret:"true" desc:"Levelboard's admin token: the bot sets up each guild that it is in. This or the key is required."`
	Key        string     `env:"LEVELBOARD_KEY" secret:"true" desc:"An API key that may write, in place of the admin token: the bot serves the guilds that it has grants for."`
	PublicURL  string     `env:"LEVELBOARD_PUBLIC_URL" desc:"What links are built on; LEVELBOARD_URL if it is not set."`
	Data       string     `env:"LEVELBOARD_BOT_DATA" envDefault:"./levelboard-bot-data" desc:"Directory of the queue, the keys that the bot made, and its place in each guild's events."`
	Announce   string     `env:"LEVELBOARD_BOT_ANNOUNCE" envDefault:"here" desc:"Where level-ups and winners are announced: here (where the member wrote), off, or a channel's id."`
	HideRoles  []string   `env:"LEVELBOARD_BOT_HIDE_ROLES" desc:"Names or ids of roles, separated by commas: who has one is hidden from the board."`
	DiscordURL string     `env:"LEVELBOARD_BOT_DISCORD_URL" envDefault:"https://discord.com" desc:"Where Discord is, for tests and proxies."`
	OpsListen  string     `env:"LEVELBOARD_OPS_LISTEN" envDefault:"127.0.0.1:9465" desc:"Address of /metrics, /livez and /readyz; :9465 in the container image."`
	LogLevel   slog.Level `env:"LEVELBOARD_LOG_LEVEL" envDefault:"info" desc:"debug, info, warn or error."`
	LogFormat  string     `env:"LEVELBOARD_LOG_FORMAT" envDefault:"text" desc:"text or json."`

	// The values of Load, but for tests.
	Tick       time.Duration // between two batches
	AnswerTime time.Duration // how long Levelboard may take for a command
	Queue      int           // how many messages wait for Levelboard; beyond it the oldest go
}

const (
	queueLimit = 100_000
	answerTime = 2500 * time.Millisecond // of the 3 seconds after which Discord shows no answer
)

// Load reads the settings from environ (NAME=value); an empty value counts as not set. err has a sentence for each mistake, and no secret.
func Load(environ []string) (s Settings, err error) {
	s.Tick, s.AnswerTime, s.Queue = time.Second, answerTime, queueLimit
	var problems []error
	vars, known := env.ToMap(environ), map[string]bool{}
	maps.DeleteFunc(vars, func(_, value string) bool { return value == "" })
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		name := f.Tag.Get("env")
		known[name] = true
		if f.Tag.Get("secret") != "" {
			problems = append(problems, secretfile.Resolve(vars, name))
		}
	}
	for name := range vars { // other LEVELBOARD_ names may be the service's
		if strings.HasPrefix(name, "LEVELBOARD_BOT_") && !known[name] {
			problems = append(problems, fmt.Errorf("%s is not a setting: docs/bot.md lists them", name))
		}
	}
	if err := env.ParseWithOptions(&s, env.Options{Environment: vars}); err != nil {
		problems = append(problems, errors.New("LEVELBOARD_LOG_LEVEL must be debug, info, warn or error")) // all else is text
	}
	problems = append(problems, s.check()...)
	return s, errors.Join(problems...)
}

var channelID = regexp.MustCompile(`^[0-9]{17,20}$`)

func (s *Settings) check() (problems []error) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if s.Token == "" {
		bad("DISCORD_TOKEN is missing: create the token in Discord's developer portal, under your application's Bot, with Reset Token")
	}
	switch {
	case s.AdminToken == "" && s.Key == "":
		bad("LEVELBOARD_ADMIN_TOKEN or LEVELBOARD_KEY is missing: an embedded service's token is in the file admin-token of its data directory (LEVELBOARD_ADMIN_TOKEN_FILE)")
	case s.AdminToken != "" && s.Key != "":
		bad("LEVELBOARD_ADMIN_TOKEN and LEVELBOARD_KEY are both set: set only one of them")
	}
	s.PublicURL = cmp.Or(s.PublicURL, s.URL)
	for name, at := range map[string]*string{"LEVELBOARD_URL": &s.URL, "LEVELBOARD_PUBLIC_URL": &s.PublicURL, "LEVELBOARD_BOT_DISCORD_URL": &s.DiscordURL} {
		u, err := url.Parse(*at)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			bad("%s must be an http:// or https:// URL without user, query and fragment", name)
		}
		*at = strings.TrimRight(*at, "/")
	}
	if s.Announce != "here" && s.Announce != "off" && !channelID.MatchString(s.Announce) {
		bad("LEVELBOARD_BOT_ANNOUNCE must be here, off, or a channel's id, not %q", s.Announce)
	}
	if s.LogFormat != "text" && s.LogFormat != "json" {
		bad("LEVELBOARD_LOG_FORMAT must be text or json, not %q", s.LogFormat)
	}
	for i, role := range s.HideRoles {
		s.HideRoles[i] = strings.TrimSpace(role)
	}
	return problems
}
