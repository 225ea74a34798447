package docs_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
)

// stated lists numbers of the code that pages mention, as "page: the page's words with the number as (...)" and the constant or setting with
// that value, in units that a page may name.
var stated = [][2]string{
	{"README.md: messages\\*\\*, up to (...) in a call", "httpapi.maxMessages"},
	{"README.md: Every (... s)econds, and at shutdown", "LEVELBOARD_SNAPSHOT_INTERVAL"},
	{"docs/durability.md: `LEVELBOARD_SNAPSHOT_INTERVAL` \\((... s)\\)", "LEVELBOARD_SNAPSHOT_INTERVAL"},
	{"docs/durability.md: a sweep \\(every (twelve) intervals\\)", "snapshot.sweepEvery"},
	{"docs/limits.md: By default (...) a minute for each key", "LEVELBOARD_RATE_LIMIT_KEY"},
	{"docs/limits.md: and (...) for each owner", "LEVELBOARD_RATE_LIMIT_IDENTITY"},
	{"docs/limits.md: \\| key \\| (...),", "LEVELBOARD_RATE_LIMIT_KEY"},
	{"docs/limits.md: \\| identity \\| (...) \\|", "LEVELBOARD_RATE_LIMIT_IDENTITY"},
	{"docs/limits.md: up to the owner's (...):", "LEVELBOARD_RATE_LIMIT_IDENTITY"},
	{"docs/limits.md: `LEVELBOARD_IDEMPOTENCY_TTL` \\((... h)ours\\)", "LEVELBOARD_IDEMPOTENCY_TTL"},
	{"docs/limits.md: (...) visible ASCII characters", "httpapi.maxIdempotencyKey"},
	{"docs/sizing.md: each a second, at (... h)ours", "LEVELBOARD_IDEMPOTENCY_TTL"},
	{"docs/periods.md: `LEVELBOARD_HISTORY_DAYS` \\((...)\\)", "LEVELBOARD_HISTORY_DAYS"},
	{"docs/two-replicas.md: `LEVELBOARD_SHUTDOWN_TIMEOUT` \\((... s)\\)", "LEVELBOARD_SHUTDOWN_TIMEOUT"},
	{"docs/redis.md: `LEVELBOARD_REDIS_WAIT_TIMEOUT` \\((... ms)\\)", "LEVELBOARD_REDIS_WAIT_TIMEOUT"},
	{"docs/events.md: \\| (...) events, while the last", "events.KeptEvents"},
	{"docs/events.md: longer than an hour or (...) events", "events.KeptEvents"},
	{"docs/events.md: \\| streams \\| (...) of a replica", "httpapi.mostStreams"},
	{"docs/events.md: of a replica, (...) of an owner", "httpapi.streamsOfOwner"},
	{"docs/events.md: sign of life, every (... s)econds", "httpapi.defaultKeepAlive"},
	{"docs/redis-keys.md: A log keeps (...) events", "events.KeptEvents"},
	{"docs/keys.md: \\*\\*(...) keys\\*\\*", "keys.MaxKeys"},
	{"docs/sign-in.md: A user has at most (...);", "signin.sessionsOfUser"},
	{"docs/sign-in.md: At most (...) sign-ins a minute", "web.signInsOfAddress"},
	{"docs/sign-in.md: reach the provider, (...) at once", "signin.entering"},
	{"docs/security.md: may send \\*\\*(...) wrong tokens a minute", "httpapi.wrongAdminTokens"},
	{"docs/members.md: 1 to (...) members in the order", "leaderboard.PageSize"},
	{"docs/members.md: XP of 1 to (...) members", "httpapi.maxMessages"},
	{"docs/members.md: `limit` is 1 to (...) \\(default 20\\)", "leaderboard.MaxFound"},
	{"docs/members.md: \\(1 to (...) characters\\)", "leaderboard.maxSearch"},
	{"docs/first-calls.md: messages, up to (...) in a call", "httpapi.maxMessages"},
	{"docs/undo.md: at most (...) checkpoints made by hand", "checkpoints.MaxManual"},
	{"docs/undo.md: at most (...)\\. Each takes", "checkpoints.MaxAutomatic"},
	{"docs/runbooks.md: A replica has (...) requests", "httpapi.defaultInFlight"},
	{"docs/runbooks.md: in progress, or (...) streams open", "httpapi.mostStreams"},
	{"docs/settings.md: All settings are at most (... KiB)", "guild.MaxDocument"},
	{"docs/import.md: files of up to (... MiB)", "jobs.MaxUpload"},
	{"docs/cards.md: (...) may wait, then 503", "card.cardsWaiting"},
}

// same lists facts that several pages state.
var same = []map[string]string{
	{"README.md": `and Postgres ([\d. and]+);`, "CONTRIBUTING.md": `Postgres ([\d. and]+)\. To test`},
	{"README.md": `tested on (Redis .*), and Postgres`, "CONTRIBUTING.md": `ran on (Redis .*), Postgres`},
	{"docs/security.md": `compose.yaml. runs ([\d.]+)`, "deploy/compose.yaml": `image: redis:([\d.]+)-`},
	{"docs/deploy.md": `Needs Compose ([\d.]+)\.`, "docs/start.md": `engine/install/debian/\) ([\d.]+);`},
	{"README.md": `go.dev/dl/\) ([\d.]+) or newer`, "CONTRIBUTING.md": `Go ([\d.]+) or newer`, "go.mod": `(?m)^go (1\.\d+)`},
	{"README.md": `a community of up to ([\d,]+) members`, "docs/sizing.md": `beyond ([\d,]+) members use Redis`, "docs/configuration.md": `up to ([\d,]+) members \(`, "docs/known-limits.md": `above ([\d,]+) members are slow`, "docs/start.md": `enough for \[([\d,]+) members`},
}

// about lists measured numbers that pages round, by row of docs/benchmarks.md.
var about = map[string][2]string{
	`\| increments \| ([\d,]+) \|`:                         {"README.md", `\| increment \| [^|]*\|[^|]*\| ([\d,]+) \|`},
	`\| increments \| [\d,]+ \| ([\d,]+) `:                 {"README.md", `\| increment \| [^|]*\|[^|]*\| [\d,]+ \| ([\d,]+) \|`},
	`\| messages, 100 in a call \| ([\d,]+) `:              {"README.md", `\| 100 \| ([\d,]+) \|`},
	`\| members with rank \| ([\d,]+) \|`:                  {"README.md", `\| member with rank \| [^|]*\|[^|]*\| ([\d,]+) \|`},
	`\| pages of a board that [^|]*\| ([\d,]+) \|`:         {"README.md", `1,000 changes a second \| [^|]*\|[^|]*\| ([\d,]+) \|`},
	`\| pages of a board that [^|]*\| [\d,]+ \| ([\d,]+) `: {"README.md", `1,000 changes a second \| [^|]*\|[^|]*\| [\d,]+ \| ([\d,]+) \|`},
	`a million members in \[some ([\d]+) seconds`:          {"docs/backup.md", `restore; the load after it;.*\| [\d]+ s; [\d]+ s; ([\d]+) s;`},
	`\[a million members\]\([^)]*\) some (\d+) s`:          {"docs/two-replicas.md", `restore; the load after it;.*\| [\d]+ s; [\d]+ s; ([\d]+) s;`},
	`an avatar and two names \| (\d+) to`:                  {"docs/sizing.md", `for each member, all included \| (\d+) \|`},
}

// TestTheNumbersOfThePagesAreThoseOfTheCode checks the numbers in stated, same and about.
func TestTheNumbersOfThePagesAreThoseOfTheCode(t *testing.T) {
	code := newSource(t)
	for _, s := range stated {
		page, words, _ := strings.Cut(s[0], ": ")
		unit := regexp.MustCompile(`\(\.\.\. (\w+)\)`).FindStringSubmatch(words)
		words = regexp.MustCompile(`\(\.\.\.( \w+)?\)`).ReplaceAllString(words, `([\d,]+)$1`)
		number := numberOf(t, page, words)
		if len(unit) > 0 {
			number *= float64(units[unit[1]])
		}
		if want, err := code.value(s[1]); err != nil || number != float64(want) {
			t.Errorf("%s says %v in %q; %s is %d (%v)", page, number, words, s[1], want, err)
		}
	}
	for _, places := range same {
		said := map[string]bool{}
		for page, words := range places {
			said[textOf(t, page, words)] = true
		}
		if len(said) != 1 {
			t.Errorf("the pages %v contradict each other: %v", places, said)
		}
	}
	for words, of := range about {
		says, measured := numberOf(t, of[0], words), numberOf(t, "docs/benchmarks.md", of[1])
		if math.Abs(says-measured) > measured/10 {
			t.Errorf("%s says %v in %q; docs/benchmarks.md has %v", of[0], says, words, measured)
		}
	}
}

func TestTheFirstHourNamesTheDefaults(t *testing.T) {
	curve, _ := level.Preset(level.PresetDefault)
	g := guild.Defaults("100000000000000001")
	want := "15 to 40 XP for a message, once a minute; level 1 at 100 XP, level 10 at 4,150, level 100 at 490,150"
	if g.XPPerMessageMin != 15 || g.XPPerMessageMax != 40 || g.XPGainInterval != 60000 || curve.XPFor(1) != 100 || curve.XPFor(10) != 4150 || curve.XPFor(100) != 490150 {
		t.Errorf("the defaults are no longer %s, as the first hour says", want)
	}
	textOf(t, "docs/start.md", "("+want+")")
}

// textOf returns the part of a page's words in parentheses.
func textOf(t *testing.T, page, words string) string {
	t.Helper()
	text, err := os.ReadFile("../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(words).FindStringSubmatch(string(text))
	if found == nil {
		t.Errorf("%s lacks the words %q", page, words)
		return ""
	}
	return found[1]
}

func numberOf(t *testing.T, page, words string) float64 {
	t.Helper()
	text := textOf(t, page, words)
	if text == "twelve" {
		return 12
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil && text != "" {
		t.Errorf("%s has no number in %q: %v", page, words, err)
	}
	return number
}
