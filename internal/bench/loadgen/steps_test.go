package loadgen

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func someShared(members int) *shared {
	target, err := newTarget("http://127.0.0.1:8080/prefix")
	if err != nil {
		panic(err)
	}
	return &shared{
		levelsPath: target.prefix + "/v2/levels/", guildsPath: target.prefix + "/v2/guilds/", headers: []string{target.headers("lb_key")},
		crowded: crowded{members, 1, 0}, skew: Uniform, active: members, ledger: newLedger(members), spoken: &messageCounts{},
	}
}

// parse reads what a step wrote as a server would, and holds it to be one request, complete.
func parse(t *testing.T, written []byte) (request *http.Request, body string) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(written))
	request, err := http.ReadRequest(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	content, err := io.ReadAll(request.Body)
	if err != nil || r.Buffered() > 0 {
		t.Fatalf("%v, %d bytes beyond the request\n%s", err, r.Buffered(), written)
	}
	if request.Host != "127.0.0.1:8080" || request.Header.Get("X-Api-Key") != "lb_key" {
		t.Fatalf("%s", written)
	}
	return request, string(content)
}

func TestStepsWriteCompleteRequests(t *testing.T) {
	const base = "^/prefix/v2/levels/" + guildID
	user := base + "/users/91000000000000000[0-9]{2}$"
	for _, test := range []struct {
		operation          operation
		method, path, body string
	}{
		{increment, "PATCH", user, `^{"xp":{"increment":([1-9]|10)}}$`},
		{readRank, "GET", user, "^$"},
		{readPage, "GET", base + `\?page=1$`, "^$"},
		{pollPage, "GET", base + `\?page=1$`, "^$"},
		{fill(), "POST", user, `^{"xp":[0-9]+,"user":{"avatar":"[0-9a-f]{32}","discriminator":"0","globalName":"Bench Member \d+","username":"bench\.member\.\d{6}"}}$`},
	} {
		step := test.operation.start(someShared(60), rand.New(rand.NewPCG(1, 1)))
		for range 60 {
			written, more := step.next(nil)
			if !more {
				t.Fatalf("%s: nothing left to ask", test.operation.name)
			}
			request, body := parse(t, written)
			if request.Method != test.method || !regexp.MustCompile(test.path).MatchString(request.RequestURI) || !regexp.MustCompile(test.body).MatchString(body) {
				t.Fatalf("%s: %s", test.operation.name, written)
			}
		}
	}
}

func TestFillCreatesEachMemberOnce(t *testing.T) {
	s, operation := someShared(25), fill()
	steps := []step{operation.start(s, nil), operation.start(s, nil)}
	seen := map[int]bool{}
	for i := 0; ; i++ {
		written, more := steps[i%2].next(nil)
		if !more {
			break
		}
		request, _ := parse(t, written)
		member := memberOf(request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:], 25)
		if member < 0 || seen[member] {
			t.Errorf("%s", request.URL.Path)
		}
		seen[member] = true
	}
	if len(seen) != 25 {
		t.Errorf("%d members", len(seen))
	}
	for _, user := range []string{"", "x", strconv.Itoa(firstUser - 1), strconv.Itoa(firstUser + 25), "99999999999999999999"} {
		if memberOf(user, 25) != -1 {
			t.Errorf("%q is taken for a member", user)
		}
	}
}

// Of members who are not active nothing is asked, and of each that is active something.
func TestOnlyActiveMembersAreAskedFor(t *testing.T) {
	for _, operation := range []operation{increment, readRank} {
		s := someShared(1000)
		s.active = 10
		step, asked := operation.start(s, rand.New(rand.NewPCG(1, 1))), map[string]bool{}
		for range 500 {
			written, _ := step.next(nil)
			request, _ := parse(t, written)
			asked[request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]] = true
		}
		for i := range 10 {
			user := string(appendUserID(nil, i))
			if !asked[user] {
				t.Errorf("%s does not ask for %s", operation.name, user)
			}
			delete(asked, user)
		}
		if len(asked) > 0 {
			t.Errorf("%s asks for %v too", operation.name, asked)
		}
	}
}

func TestMembersAreSpreadOverGuilds(t *testing.T) {
	s := someShared(2505)
	s.guilds = 2500
	s.headers = nil
	for _, key := range []string{"lb_a", "lb_b", "lb_c"} {
		s.headers = append(s.headers, " HTTP/1.1\r\nHost: h\r\nX-Api-Key: "+key+"\r\n")
	}
	fill, each := fillByMessages(s.crowded)
	if each < 1 || each > 1.01 {
		t.Errorf("%f members in a call", each)
	}
	where := map[string]string{} // the guild and the key of each member
	for step := fill.start(s, nil); ; {
		written, more := step.next(nil)
		if !more {
			break
		}
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(written)))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(request.Body)
		guild := regexp.MustCompile(`^/prefix/v2/guilds/(\d{19})/messages$`).FindStringSubmatch(request.URL.Path)[1]
		for _, found := range regexp.MustCompile(`"userId":"(\d+)"`).FindAllStringSubmatch(string(body), -1) {
			if where[found[1]] != "" {
				t.Errorf("%s is filled twice", found[1])
			}
			where[found[1]] = guild + " " + request.Header.Get("X-Api-Key")
		}
	}
	guilds, keys := map[string]bool{}, map[string]bool{}
	for _, at := range where {
		guild, key, _ := strings.Cut(at, " ")
		guilds[guild], keys[key] = true, true
	}
	if len(where) != 2505 || len(guilds) != 2500 || len(keys) != 3 {
		t.Errorf("%d members, %d guilds, %d keys", len(where), len(guilds), len(keys))
	}
	rank := readRank.start(s, rand.New(rand.NewPCG(1, 1)))
	for range 1000 {
		written, _ := rank.next(nil)
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(written)))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(request.URL.Path, "/") // "", prefix, v2, levels, guild, users, member
		if got := parts[4] + " " + request.Header.Get("X-Api-Key"); got != where[parts[6]] {
			t.Fatalf("the member %s is asked for at %s, and was filled at %s", parts[6], got, where[parts[6]])
		}
	}
}

func TestOneParticularPage(t *testing.T) {
	s := someShared(1000)
	s.page = 7
	poll := pollPage.start(s, rand.New(rand.NewPCG(1, 1)))
	for i := range 3 {
		written, _ := poll.next(nil)
		if request, _ := parse(t, written); request.URL.RawQuery != "page=7" || (request.Header.Get("If-None-Match") == "") != (i == 0) {
			t.Errorf("%s", written)
		}
		poll.settle(answer{status: 200, etag: []byte(`"a"`)})
	}
}

func TestPollAsksForWhatItSawOnly(t *testing.T) {
	poll := pollPage.start(someShared(10), rand.New(rand.NewPCG(1, 1)))
	ask := func(want string) {
		t.Helper()
		written, _ := poll.next(nil)
		if request, _ := parse(t, written); request.Header.Get("If-None-Match") != want {
			t.Errorf("If-None-Match: %q, want %q", request.Header.Get("If-None-Match"), want)
		}
	}
	ask("")
	if poll.settle(answer{status: 304}) {
		t.Error("a 304 to a request without a condition is taken for right")
	}
	ask("")
	if !poll.settle(answer{status: 200, etag: []byte(`"a"`)}) {
		t.Error("a page is taken for wrong")
	}
	ask(`"a"`)
	if !poll.settle(answer{status: 304, etag: []byte(`"a"`)}) {
		t.Error("a 304 is taken for wrong")
	}
	ask(`"a"`)
	poll.settle(answer{status: 503})
	ask(`"a"`)
	poll.settle(answer{status: 200, etag: []byte(`"bb"`)})
	ask(`"bb"`)
}

func TestSeedDecidesWhatIsDrawn(t *testing.T) {
	mixed, _ := FindScenario("mixed")
	draws := func(seed uint64) (operations []int, requests []string) {
		m := newMix(mixed.shares, someShared(1000), rand.New(rand.NewPCG(seed, 0)))
		for range 5000 {
			operation := m.draw()
			written, _ := m.steps[operation].next(nil)
			operations, requests = append(operations, operation), append(requests, string(written))
		}
		return operations, requests
	}
	operations, requests := draws(1)
	if _, again := draws(1); !slices.Equal(requests, again) {
		t.Error("the same seed drew other requests")
	}
	if _, other := draws(2); slices.Equal(requests, other) {
		t.Error("another seed drew the same requests")
	}
	counts := make([]int, len(mixed.shares))
	for _, operation := range operations {
		counts[operation]++
	}
	for i, share := range mixed.shares {
		if want := 50 * share.weight; counts[i] < want-200 || counts[i] > want+200 {
			t.Errorf("of 5000 draws %v are of each operation; %s has %d shares of 100", counts, share.operation.name, share.weight)
		}
	}
}

func TestSkew(t *testing.T) {
	for skew, bounds := range map[Skew][2]int{Uniform: {800, 1200}, Zipf: {4000, 9000}} {
		draw := skew.drawer(rand.New(rand.NewPCG(1, 1)), 1000)
		front := 0
		for range 10_000 {
			member := draw()
			if member < 0 || member > 999 {
				t.Fatalf("%s drew %d", skew, member)
			}
			if member < 100 {
				front++
			}
		}
		if front < bounds[0] || front > bounds[1] {
			t.Errorf("%s drew the first tenth %d times of 10,000", skew, front)
		}
		if one := skew.drawer(rand.New(rand.NewPCG(1, 1)), 1); one() != 0 {
			t.Errorf("%s drew another member than the only one", skew)
		}
	}
}
