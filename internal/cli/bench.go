package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"levelboard/internal/bench/loadgen"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	clientFlags
	scenario    string
	concurrency int
	rate        int
	duration    time.Duration
	members     int
	active      int
	guilds      int
	keyLimit    int
	page        int
	plain       bool
	skew        string
	seed        uint64
	verify      bool
	keep        bool
	watchOps    string
	batch       string
	record      string
	replay      string
	messages    int64

	// given reports whether a flag was, where its default depends on others or on chance.
	given func(flag string) bool
}

func (p *program) benchCommand() *cobra.Command {
	var f benchFlags
	command := &cobra.Command{
		Use:   "bench",
		Short: "Put load on a running service and measure how it answers",
		Long: "Put load on a running service and measure how it answers. A guild of its own (or several), its members and keys\n" +
			"are made for it and removed at the end. The service's limit for each identity applies to the load: start the service\n" +
			"with LEVELBOARD_RATE_LIMIT_IDENTITY=0 to measure it and not the limit. docs/benchmarks.md says what the numbers mean.\n\nScenarios:\n" + scenarioList(),
		Args: takes(),
	}
	command.RunE = p.action(func(ctx context.Context, _ []string) error {
		f.given = command.Flags().Changed
		options, err := f.options()
		if err != nil {
			return err
		}
		if f.record != "" {
			return p.record(ctx, &f, options)
		}
		return p.bench(ctx, &f, options)
	})
	f.clientFlags.register(command)
	flags := command.PersistentFlags()
	flags.Lookup("json").Usage = "print the result as one JSON document"
	flags.StringVar(&f.scenario, "scenario", "increment", "what to ask for: "+loadgen.ScenarioNames())
	flags.IntVar(&f.concurrency, "concurrency", 64, "how many connections, each of which waits for its answer")
	flags.IntVar(&f.rate, "rate", 0, "open loop: so many requests a second are due, whether the service keeps up or not, and latencies count from then (default as many as the connections get)")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "how long")
	flags.IntVar(&f.members, "members", 10_000, "how many members there are (default of messages 1,000,000)")
	flags.IntVar(&f.active, "active", 0, "increment, rank: how many of the members are asked for (default all)")
	flags.IntVar(&f.guilds, "guilds", 1, "increment, rank: over how many guilds the members are spread")
	flags.IntVar(&f.page, "page", 0, "page, page-while-writing, poll, mixed: read this page only (default random ones among the first 100)")
	flags.BoolVar(&f.plain, "plain", false, "ask for pages as they are, not gzipped, as browsers and most libraries do")
	flags.IntVar(&f.keyLimit, "key-limit", 0, "the limit of the keys that the load is made with, in requests a minute; 0 for none")
	flags.StringVar(&f.skew, "skew", string(loadgen.Uniform), "how often each member is drawn: uniform, or zipf for a few most of the time (default of messages zipf)")
	flags.Uint64Var(&f.seed, "seed", 0, "the same seed draws the same requests on each connection (default by chance)")
	flags.BoolVar(&f.verify, "verify", false, fmt.Sprintf("compare the members' XP with what was acknowledged (default with at most %d members)", loadgen.VerifiedByDefault))
	flags.BoolVar(&f.keep, "keep", false, "leave the guild and its members for the next run")
	flags.StringVar(&f.watchOps, "watch-ops", "", "watch how far the snapshots lag behind, by the service's metrics at this address, such as http://127.0.0.1:9464")
	f.registerMessages(command)
	return command
}

// maxKeyLimit is the highest limit that a key can have.
const maxKeyLimit = math.MaxInt32

func scenarioList() string {
	var b strings.Builder
	for _, s := range loadgen.Scenarios() {
		fmt.Fprintf(&b, "  %-19s%s\n", s.Name, s.Summary)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// options checks the flags and makes of them what does not depend on the service.
func (f *benchFlags) options() (loadgen.Options, error) {
	o := loadgen.Options{
		Concurrency: f.concurrency, Rate: f.rate, Duration: f.duration, Members: f.members, Active: f.active, Guilds: f.guilds, Page: f.page, Plain: f.plain, KeyLimit: f.keyLimit, Skew: loadgen.Skew(f.skew), Seed: f.seed,
		Verify: f.verify, Keep: f.keep, WatchOps: strings.TrimRight(f.watchOps, "/"), Batch: loadgen.Batch(f.batch), Replay: f.replay,
	}
	var found bool
	if o.Scenario, found = loadgen.FindScenario(f.scenario); !found {
		return o, usage("--scenario must be one of %s", loadgen.ScenarioNames())
	}
	if err := f.messagesOptions(&o); err != nil {
		return o, err
	}
	switch {
	case f.concurrency < 1 || f.concurrency > loadgen.MaxConcurrency:
		return o, usage("--concurrency must be from 1 to %d", loadgen.MaxConcurrency)
	case f.duration <= 0:
		return o, usage("--duration must be longer than nothing, such as 10s")
	case o.Members < 1 || o.Members > loadgen.MaxMembers:
		return o, usage("--members must be from 1 to %d", loadgen.MaxMembers)
	case f.active < 0 || f.active > o.Members || f.given("active") && f.active == 0:
		return o, usage("--active must be from 1 to the number of members")
	case f.active > 0 && !o.Scenario.Spreads():
		return o, usage("--active is for the scenarios increment and rank")
	case f.rate < 0 || f.rate > loadgen.MaxRate || f.given("rate") && f.rate == 0:
		return o, usage("--rate must be from 1 to %d", loadgen.MaxRate)
	case f.rate > 0 && f.replay != "":
		return o, usage("--replay sends its calls one after another, so there is no --rate with it")
	case f.guilds < 1 || f.guilds > min(loadgen.MaxGuilds, o.Members):
		return o, usage("--guilds must be from 1 to %d, and not more than the members", loadgen.MaxGuilds)
	case f.guilds > 1 && !o.Scenario.Spreads():
		return o, usage("--guilds is for the scenarios increment and rank")
	case f.page < 0 || f.page > (o.Members+99)/100:
		return o, usage("--page must be one that the members fill")
	case f.plain && !o.Scenario.ReadsPages():
		return o, usage("--plain is for scenarios that read pages; %s reads none", f.scenario)
	case f.page > 0 && !o.Scenario.ReadsPages():
		return o, usage("--page is for scenarios that read pages; %s reads none", f.scenario)
	case f.keyLimit < 0 || f.keyLimit > maxKeyLimit:
		return o, usage("--key-limit must be from 0 to %d", maxKeyLimit)
	case !o.Skew.Valid():
		return o, usage("--skew must be %s or %s", loadgen.Uniform, loadgen.Zipf)
	case f.given("verify") && f.verify && !o.Scenario.Changes():
		return o, usage("--verify is for scenarios that change XP; %s changes none", f.scenario)
	case f.watchOps != "" && !webAddress(f.watchOps):
		return o, usage("--watch-ops must be an http:// or https:// address")
	}
	if !f.given("verify") {
		o.Verify = o.Members <= loadgen.VerifiedByDefault && o.Guilds <= loadgen.VerifiedGuildsByDefault
	}
	if !f.given("seed") && f.replay == "" {
		o.Seed = rand.Uint64N(1_000_000)
	}
	return o, nil
}

func (p *program) bench(ctx context.Context, f *benchFlags, o loadgen.Options) error {
	client, err := p.client(&f.clientFlags)
	if err != nil {
		return err
	}
	line := newProgressLine(p.Stderr)
	o.URL, o.Admin, o.Progress, o.Warn = client.base, client.call, line.show, line.keep
	return p.untilSignal(ctx, func(ctx context.Context) error {
		result, err := loadgen.Run(ctx, o)
		line.end()
		if result == nil {
			return err
		}
		return errors.Join(p.printResult(result, f.json), err)
	})
}

// keep shows a text that what is shown after it does not write over.
func (l *progressLine) keep(text string) {
	l.show(text)
	l.end()
}

func (p *program) printResult(result *loadgen.Result, asJSON bool) error {
	if !asJSON {
		return result.WriteTable(p.Stdout)
	}
	document, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return p.printJSON(document)
}
