package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

const (
	operatorToken = "an-operators-token-of-enough-length"
	testGuild     = "100000000000000001"
	testUser      = "200000000000000001"
)

// process is the program serving in its own process.
type process struct {
	t        *testing.T
	command  *exec.Cmd
	api, ops string // base addresses
	key      string
	read     chan struct{} // closed at the end of standard error

	mu     sync.Mutex
	stderr strings.Builder
}

// serve starts the program and waits until it serves.
func serve(t *testing.T, environ ...string) *process {
	t.Helper()
	p := &process{t: t, command: exec.Command(os.Args[0], "serve"), read: make(chan struct{})}
	p.command.Env = append([]string{
		asCommand, "LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_ADMIN_TOKEN=" + operatorToken,
		"LEVELBOARD_REDIS_TIMEOUT=5s", "LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=0",
	}, environ...)
	output, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.command.ProcessState == nil {
			_ = p.command.Process.Kill()
			<-p.read
			_ = p.command.Wait()
		}
		if t.Failed() {
			t.Logf("the process wrote:\n%s", p.said())
		}
	})
	up := make(chan bool, 1)
	go func() {
		defer close(p.read)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			p.mu.Lock()
			p.stderr.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			if strings.Contains(lines.Text(), "Metrics and health checks:") {
				up <- true
			}
		}
		up <- false
	}()
	if !<-up {
		t.Fatal("the process does not start to serve")
	}
	p.api = regexp.MustCompile(`serves (http://\S+)/v2`).FindStringSubmatch(p.said())[1]
	p.ops = regexp.MustCompile(`health checks: (http://\S+)/metrics`).FindStringSubmatch(p.said())[1]
	return p
}

// onServers returns the environment for a process on these servers, with frequent snapshots.
func onServers(redis *testenv.RedisServer, archive *testenv.PG) []string {
	return []string{"LEVELBOARD_REDIS_URL=" + redis.URL(), "LEVELBOARD_POSTGRES_URL=" + archive.URL(), "LEVELBOARD_SNAPSHOT_INTERVAL=100ms"}
}

// said returns the process's standard error so far.
func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// ask sends a request and returns the status and the body, or status 0 without an answer.
func (p *process) ask(method, url, body string) (int, string) {
	credentials := []string{"X-Api-Key", p.key}
	if strings.Contains(url, "/admin/") {
		credentials = []string{"Authorization", "Bearer " + operatorToken}
	}
	answer, err := testenv.Send(context.Background(), nil, method, url, body, credentials...)
	if err != nil {
		return 0, err.Error()
	}
	return answer.Status, string(answer.Body)
}

func (p *process) want(status int, method, url, body string) string {
	p.t.Helper()
	got, text := p.ask(method, url, body)
	for try := 1; got == 0 && method == "GET" && try < 5; try++ { // a busy machine may miss the time for headers
		got, text = p.ask(method, url, body)
	}
	if got != status {
		p.t.Fatalf("%s %s is %d %s, want %d", method, url, got, text, status)
	}
	return text
}

// populate creates a guild with one member and a key.
func (p *process) populate() {
	p.t.Helper()
	p.want(201, "PUT", p.api+"/admin/guilds/"+testGuild, `{"name":"Gophers","memberCount":1,"ownerId":"300000000000000001"}`)
	made := p.want(201, "POST", p.api+"/admin/keys",
		`{"name":"bot","ownerId":"300000000000000001","permission":"read_write","guildIds":["`+testGuild+`"]}`)
	var key struct{ Key string }
	if err := json.Unmarshal([]byte(made), &key); err != nil {
		p.t.Fatal(err)
	}
	p.key = key.Key
	p.create(testUser)
}

func (p *process) member(user string) string {
	return p.api + "/v2/levels/" + testGuild + "/users/" + user
}

func (p *process) create(user string) {
	p.t.Helper()
	if status, text := p.creates(user); status != 200 {
		p.t.Fatalf("POST %s is %d %s, want 200", p.member(user), status, text)
	}
}

// creates repeats a creation that is 503, as when the machine hangs for longer than the service waits for Redis.
func (p *process) creates(user string) (status int, text string) {
	for try := 1; ; try++ {
		status, text = p.ask("POST", p.member(user), `{"xp":5,"user":{"avatar":null,"discriminator":"0","username":"gopher"}}`)
		switch {
		case status == 409 && try > 1:
			return 200, text
		case status != 503 || try == 5:
			return status, text
		}
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// wait returns the exit code, and fails the test if it does not come in time. Times when the machine hangs do not count.
func (p *process) wait(within time.Duration) int {
	p.t.Helper()
	began, ended := testenv.Awake(), false
	for !ended {
		select {
		case <-p.read:
			ended = true
		case <-time.After(50 * time.Millisecond):
			if testenv.Awake()-began > within {
				p.t.Errorf("the process still runs after %v", within)
				_ = p.command.Process.Kill()
				<-p.read
				ended = true
			}
		}
	}
	_ = p.command.Wait()
	p.t.Logf("the process exited with %d after %v", p.command.ProcessState.ExitCode(), testenv.Awake()-began)
	return p.command.ProcessState.ExitCode()
}

// says waits until standard error contains what.
func (p *process) says(what string) {
	p.t.Helper()
	p.until(fmt.Sprintf("it says %q", what), func() bool { return strings.Contains(p.said(), what) })
}

func (p *process) until(what string, so func() bool) { p.t.Helper(); testenv.Wait(p.t, what, so) }

// metric reads a metric without labels.
func (p *process) metric(name string) float64 {
	p.t.Helper()
	for line := range strings.Lines(p.want(200, "GET", p.ops+"/metrics", "")) {
		if text, found := strings.CutPrefix(line, name+" "); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return value
		}
	}
	p.t.Fatalf("/metrics lacks %s", name)
	return 0
}
