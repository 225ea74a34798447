package app_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// mostSeries bounds the lines of /metrics under any traffic: 80 routes with five statuses each and 100 scripts and archive operations, times
// the 16 lines of a histogram, and 2,000 others. Other tests run before this one in the process.
const mostSeries = (80*5+100)*16 + 2000

// documented returns the metrics in docs/metrics.md: name to type and sorted labels.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(levelboard_\\w+)` \\| (\\w+) \\|([^|]*)\\| \\S").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(row[1], "levelboard_bot_") { // the bot's, which has its own test
			continue
		}
		labels := regexp.MustCompile(`\w+`).FindAllString(row[3], -1)
		slices.Sort(labels)
		if _, twice := found[row[1]]; twice {
			t.Errorf("docs/metrics.md has %s twice", row[1])
		}
		found[row[1]] = row[2] + " " + strings.Join(labels, ",")
	}
	return found
}

// metric returns the value of a series, which all services in this process share.
func (s *service) metric(series string) float64 {
	s.t.Helper()
	found := regexp.MustCompile(`(?m)^levelboard_` + regexp.QuoteMeta(series) + ` (\S+)$`).FindSubmatch(s.ops("/metrics").Want(s.t, 200).Body)
	if found == nil {
		s.t.Fatalf("/metrics has no series levelboard_%s", series)
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// families parses the answer of /metrics.
func families(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// exposed returns the service's metrics in the form of documented. All series of a metric must have the same labels.
func exposed(t *testing.T, text []byte) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, family := range families(t, text) {
		if !strings.HasPrefix(name, "levelboard_") {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
			slices.Sort(labels)
			form := strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, ",")
			if before, ok := found[name]; ok && before != form {
				t.Errorf("two series of %s have the form %q and %q, want one form", name, before, form)
			}
			found[name] = form
		}
	}
	return found
}

// traffic sends requests about new guilds, users and keys, and returns all their ids. No request may fail.
func (s *service) traffic(guilds int) (names []string) {
	s.t.Helper()
	send := func(method, path, key, body string, options ...apitest.Option) {
		if _, err := s.quick(method, path, key, body, options...); err != nil {
			s.t.Fatal(err)
		}
	}
	for i := range guilds {
		user, stranger, vanity, boss := newID(), newID(), "board"+newID()[8:], newID()
		g := s.guild(exactly(30, object{"vanity": vanity, "ownerId": boss, "xpGainInterval": 60000, "ignoredChannelIds": []string{chanA}}))
		id, key := s.mint(object{"guildIds": []string{g}, "ownerId": boss})
		limitedID, limited := s.mint(object{"guildIds": []string{g}, "rateLimit": 1})
		names = append(names, user, stranger, vanity, boss, g, id, key, limitedID, limited)

		once := named(fmt.Sprintf("call%d%s", i, g))
		s.send(key, g, []object{message(user, nil), message(user, nil), message(user, object{"channelId": chanA})}, once)
		s.send(key, g, []object{message(user, nil), message(user, nil), message(user, object{"channelId": chanA})}, once)
		for _, c := range v2Calls(s.t, g, user) {
			send(c.Method, c.Address(), key, c.Body)
			send(c.Method, c.Address(), "letmein"+g, c.Body)
			send(c.Method, c.Address(), limited, c.Body)
		}
		page, err := s.quick("GET", boardPath(vanity, 1), key, "")
		if err != nil {
			s.t.Fatal(err)
		}
		send("GET", boardPath(vanity, 1), key, "")
		send("GET", boardPath(vanity, 1), key, "", apitest.Header("If-None-Match", page.Header.Get("ETag")))
		for _, method := range []string{"GET", "BREW" + g[10:], "PROPFIND", "TRACE"} {
			for _, path := range []string{"/" + g, "/v2/" + g, memberPath(g, user) + "/" + stranger, memberPath(g, user), "/admin/guilds/" + g} {
				send(method, path, key, "")
			}
		}
		send("GET", memberPath(g, stranger)+"?q="+vanity, key, "", apitest.Header("X-Request-Id", vanity))
		send("GET", "/admin/keys", "", "", apitest.AdminToken("wrong"+vanity))
		s.admin("DELETE", "/keys/"+id, nil).Want(s.t, 204)
	}
	return names
}

// bounded returns the series whose number could grow with the traffic.
func bounded(text []byte) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		series, _, _ := strings.Cut(line, "} ")
		for _, prefix := range []string{"http_", "rate_limit_", "page_cache_", "messages_", "event_"} {
			if strings.HasPrefix(series, "levelboard_"+prefix) {
				found[series] = true
			}
		}
	}
	return found
}

// This test and the next ones run alone: some metrics are of the whole process.
func TestMetricsAreAsDocumentedAndBounded(t *testing.T) {
	s := start(t, append(onServers(t), often, "LEVELBOARD_RATE_LIMIT_KEY=1000000", "LEVELBOARD_RATE_LIMIT_IDENTITY=1000000")...)
	names := s.traffic(2)
	names = append(names, s.token)
	want := documented(t)
	var text []byte
	var got map[string]string
	testenv.Wait(t, "the first snapshot has swept", func() bool {
		text = s.ops("/metrics").Want(t, 200).Body
		got = exposed(t, text)
		return got["levelboard_guilds_loaded"] != ""
	})
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("docs/metrics.md has %s as %q, and /metrics as %q", name, want[name], got[name])
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("docs/metrics.md lacks %s (%s)", name, got[name])
		}
	}

	before := bounded(text)
	names = append(names, s.traffic(10)...)
	text = s.ops("/metrics").Want(t, 200).Body
	for series := range bounded(text) {
		if !before[series] {
			t.Errorf("more traffic of the same kind added the series %s", series)
		}
	}
	if n := bytes.Count(text, []byte("\n")); n > mostSeries {
		t.Errorf("/metrics has %d lines, want at most %d", n, mostSeries)
	}
	for _, name := range names {
		if bytes.Contains(text, []byte(name)) {
			t.Errorf("/metrics contains %s of the traffic", name)
		}
	}
	for _, outcome := range []string{`messages_total{outcome="gained"}`, `messages_total{outcome="cooldown"}`, `rate_limit_requests_total{outcome="limited",scope="key"}`} {
		if bytes.Contains(text, []byte("levelboard_"+outcome+" 0\n")) || !bytes.Contains(text, []byte("levelboard_"+outcome)) {
			t.Errorf("after the traffic %s is 0 or missing", outcome)
		}
	}
}

func TestPromtoolAcceptsTheMetrics(t *testing.T) {
	testenv.Long(t)
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing; scripts/setup installs it (Debian's package prometheus)")
	}
	s := start(t, append(onServers(t), often)...)
	s.traffic(1)
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = bytes.NewReader(s.ops("/metrics").Want(t, 200).Body)
	if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, said)
	}
}

// A Prometheus that supports native histograms gets them for the durations too.
func TestDurationsAreNativeHistograms(t *testing.T) {
	s := start(t, onDataDir(t)...)
	s.traffic(1)
	got := s.ops("/metrics", apitest.Header("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))).Want(t, 200)
	decoder := expfmt.NewDecoder(bytes.NewReader(got.Body), expfmt.ResponseFormat(got.Header))
	for {
		var family dto.MetricFamily
		if err := decoder.Decode(&family); err != nil {
			t.Fatalf("/metrics lacks the request durations: %v", err)
		}
		if family.GetName() != "levelboard_http_request_duration_seconds" {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		if len(h.GetPositiveSpan()) == 0 || len(h.GetBucket()) < 10 {
			t.Errorf("the histogram is %v, want native and classic buckets", h)
		}
		bounds := h.GetBucket()
		if first, last := bounds[0].GetUpperBound(), bounds[len(bounds)-1].GetUpperBound(); first > .0005 || last < 5 {
			t.Errorf("classic buckets reach from %g s to %g s, want from 0.5 ms or less to 5 s or more", first, last)
		}
		return
	}
}
