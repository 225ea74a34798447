package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/config"
)

const (
	manyMembers       = 1_000_000 // the default if messages are sent
	verifiedByDefault = 20_000    // members; their XP is 400 pages
	verifiedGuilds    = 100
)

// flags hold what the command line says.
type flags struct {
	loadgen.Options
	scenario, skew, batch string
	json                  bool
}

func (f *flags) register(set *pflag.FlagSet) {
	set.StringVar(&f.URL, "url", "", "address of the running service (default LEVELBOARD_URL, else http://127.0.0.1:8080)")
	set.StringVar(&f.AdminToken, "admin-token", "", "admin token (default LEVELBOARD_ADMIN_TOKEN, else the file admin-token of the data directory)")
	set.BoolVar(&f.json, "json", false, "print the result as one JSON document")
	set.StringVar(&f.scenario, "scenario", "increment", "what to ask for: "+loadgen.ScenarioNames())
	set.IntVar(&f.Concurrency, "concurrency", 64, "how many connections, each of which waits for its answer")
	set.IntVar(&f.Rate, "rate", 0, "open loop: so many requests a second are due, and latencies count from then (default as many as the connections get)")
	set.DurationVar(&f.Duration, "duration", 10*time.Second, "how long")
	set.IntVar(&f.Members, "members", 10_000, "how many members there are (default of messages 1,000,000)")
	set.IntVar(&f.Active, "active", 0, "increment, rank: how many of the members are asked for (default all)")
	set.IntVar(&f.Guilds, "guilds", 1, "increment, rank: over how many guilds the members are spread")
	set.IntVar(&f.Page, "page", 0, "page, page-while-writing, poll, mixed: read this page only (default random ones among the first 100)")
	set.IntVar(&f.KeyLimit, "key-limit", 0, "limit of the keys that the load is made with, in requests a minute; 0 for none")
	set.StringVar(&f.skew, "skew", string(loadgen.Uniform), "how often each member is drawn: uniform, or zipf for a few most of the time (default of messages zipf)")
	set.Uint64Var(&f.Seed, "seed", 0, "the same seed draws the same requests on each connection (default by chance)")
	set.StringVar(&f.batch, "batch", "100", "messages: how many in a call, 1 to 1000, or mixed")
	set.BoolVar(&f.Verify, "verify", false, fmt.Sprintf("compare the members' XP with what was acknowledged (default with at most %d members)", verifiedByDefault))
	set.BoolVar(&f.Keep, "keep", false, "leave the guilds and their members for the next run")
	set.StringVar(&f.OpsURL, "watch-ops", "", "watch how far the snapshots lag behind, by the service's metrics at this address, such as http://127.0.0.1:9464")
}

// options checks the flags, and completes them from the environment.
func (f *flags) options(given func(flag string) bool, environ []string) (loadgen.Options, error) {
	o := f.Options
	var found bool
	if o.Scenario, found = loadgen.FindScenario(f.scenario); !found {
		return o, fmt.Errorf("--scenario must be one of %s", loadgen.ScenarioNames())
	}
	o.Skew, o.Batch = loadgen.Skew(f.skew), loadgen.Batch(f.batch)
	switch onlyMessages := f.scenario == loadgen.MessagesScenario; {
	case !onlyMessages && given("batch"):
		return o, fmt.Errorf("--batch is for the scenario %s", loadgen.MessagesScenario)
	case !onlyMessages:
		o.Batch = loadgen.Mixed
	default:
		if !given("members") {
			o.Members = manyMembers
		}
		if !given("skew") {
			o.Skew = loadgen.Zipf
		}
	}
	if err := check(o, given); err != nil {
		return o, err
	}
	if !given("verify") {
		o.Verify = o.Members <= verifiedByDefault && o.Guilds <= verifiedGuilds
	}
	if !given("seed") {
		o.Seed = rand.Uint64N(1_000_000)
	}
	err := complete(&o, environ)
	return o, err
}

func check(o loadgen.Options, given func(flag string) bool) error {
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{o.Concurrency < 1 || o.Concurrency > loadgen.MaxConcurrency, fmt.Sprintf("--concurrency must be from 1 to %d", loadgen.MaxConcurrency)},
		{o.Duration <= 0, "--duration must be longer than nothing, such as 10s"},
		{o.Members < 1 || o.Members > loadgen.MaxMembers, fmt.Sprintf("--members must be from 1 to %d", loadgen.MaxMembers)},
		{o.Active < 0 || o.Active > o.Members || given("active") && o.Active == 0, "--active must be from 1 to the number of members"},
		{o.Active > 0 && !o.Scenario.Spreads(), "--active is for the scenarios increment and rank"},
		{o.Rate < 0 || o.Rate > loadgen.MaxRate || given("rate") && o.Rate == 0, fmt.Sprintf("--rate must be from 1 to %d", loadgen.MaxRate)},
		{o.Guilds < 1 || o.Guilds > min(loadgen.MaxGuilds, o.Members), fmt.Sprintf("--guilds must be from 1 to %d, and not more than the members", loadgen.MaxGuilds)},
		{o.Guilds > 1 && !o.Scenario.Spreads(), "--guilds is for the scenarios increment and rank"},
		{o.Page < 0 || o.Page > (o.Members+99)/100, "--page must be one that the members fill"},
		{o.Page > 0 && !o.Scenario.ReadsPages(), "--page is for scenarios that read pages"},
		{o.KeyLimit < 0 || o.KeyLimit > math.MaxInt32, fmt.Sprintf("--key-limit must be from 0 to %d", math.MaxInt32)},
		{!o.Skew.Valid(), "--skew must be uniform or zipf"},
		{!o.Batch.Valid(), "--batch must be from 1 to 1000 or mixed"},
		{given("verify") && o.Verify && !o.Scenario.Changes(), "--verify is for scenarios that change XP"},
		{o.URL != "" && !webAddress(o.URL), "--url must be an http:// or https:// address"},
		{o.OpsURL != "" && !webAddress(o.OpsURL), "--watch-ops must be an http:// or https:// address"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}

// complete takes from the environment what no flag says of the service.
func complete(o *loadgen.Options, environ []string) error {
	settings, err := config.LoadClient(environ)
	if err != nil && (o.URL == "" || o.AdminToken == "") {
		return err
	}
	if o.URL == "" {
		o.URL = settings.URL
	}
	if o.AdminToken == "" {
		if o.AdminToken, _, err = settings.AdminToken(); err != nil {
			return err
		}
	}
	o.URL, o.OpsURL = strings.TrimRight(o.URL, "/"), strings.TrimRight(o.OpsURL, "/")
	return nil
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
