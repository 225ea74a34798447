//go:build linux

package attack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/cli"
	"levelboard/internal/platform/pause"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// asService makes the test binary run as the program, which is attacked in its own process.
const asService = "ATTACK_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(asService) == "" {
		testenv.Main(m)
	}
	os.Exit(cli.Run(context.Background(), []string{"serve"}, cli.Environment{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}))
}

const (
	adminToken = "an-operators-token-of-enough-length"
	guildID    = "100000000000000001"
	memberID   = "200000000000000001"
)

// target is the service under attack, a process with its default limits and 8,192 file descriptors, or DESCRIPTORS in environ. It is
// embedded unless environ names stores.
type target struct {
	t            *testing.T
	address, ops string
	log          string // the log's file
	key          string // the ordinary client's, which may write in the guild
	process      *os.Process
	exited       chan struct{}
	code         int // set when exited
}

// box are the settings of a process in a container as in deploy/, with boxBytes of memory.
var box = []string{"GOMEMLIMIT=" + fmt.Sprint(boxBytes/10*9)}

const boxBytes = 512 << 20

// wantInBox fails if the service needed more memory than the box has.
func (s *target) wantInBox() {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			if s.t.Logf("the service needed up to %d MiB", kib>>10); kib<<10 > boxBytes {
				s.t.Errorf("the service needed %d KiB, more than the box's %d bytes", kib, boxBytes)
			}
			return
		}
	}
	s.t.Fatal("/proc does not say how much memory the service needed")
}

// stop asks the service to stop, and returns its exit code.
func (s *target) stop() int {
	s.t.Helper()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(testenv.Patience):
		s.t.Fatalf("the service did not stop within %v", testenv.Patience)
	}
	return s.code
}

func start(t *testing.T, environ ...string) *target {
	t.Helper()
	s := run(t, environ...)
	guild := map[string]any{"name": "Gophers", "memberCount": 1, "ownerId": "300000000000000009"}
	s.api().Do("PUT", "/admin/guilds/"+guildID, "", guild, apitest.AdminToken(adminToken)).Want(t, 201)
	body := map[string]any{"name": "ordinary", "ownerId": "300000000000000009", "permission": "read_write", "guildIds": []string{guildID}, "rateLimit": 0}
	s.key = apitest.At[string](t, s.api().Do("POST", "/admin/keys", "", body, apitest.AdminToken(adminToken)).Want(t, 201), "key")
	s.award(100)
	return s
}

// run starts a new, empty service.
func run(t *testing.T, environ ...string) *target {
	t.Helper()
	s := &target{t: t, address: testenv.FreeAddr(t), ops: testenv.FreeAddr(t), log: filepath.Join(t.TempDir(), "log")}
	logFile, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer logFile.Close()
	program := exec.Command("sh", "-c", `ulimit -n "${DESCRIPTORS:-8192}" && exec "$0"`, os.Args[0])
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also if the test binary is killed
	program.Env = append([]string{
		asService + "=1", "LEVELBOARD_LISTEN=" + s.address, "LEVELBOARD_OPS_LISTEN=" + s.ops, "LEVELBOARD_ADMIN_TOKEN=" + adminToken,
		"LEVELBOARD_DATA_DIR=" + t.TempDir(),
	}, environ...)
	program.Stdout, program.Stderr = logFile, logFile
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	s.process, s.exited = program.Process, make(chan struct{})
	go func() {
		defer close(s.exited)
		_ = program.Wait()
		s.code = program.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = program.Process.Kill()
		<-s.exited
		if t.Failed() {
			t.Logf("the service wrote:\n%.4000s", s.logged())
		}
	})
	testenv.Wait(t, "the service is ready", func() bool { return s.opsStatus("/readyz") == 200 })
	return s
}

func (s *target) logged() string {
	text, _ := os.ReadFile(s.log)
	return string(text)
}

// api returns a client with its own connections.
func (s *target) api() *apitest.Client { return apitest.NewClient(s.t, "http://"+s.address) }

// newKey creates a key of that owner.
func (s *target) newKey(owner string, guilds ...string) string {
	s.t.Helper()
	body := map[string]any{"name": "k", "ownerId": owner, "permission": "read_write", "guildIds": append([]string{}, guilds...)}
	return apitest.At[string](s.t, s.api().Do("POST", "/admin/keys", "", body, apitest.AdminToken(adminToken)).Want(s.t, 201), "key")
}

// award sends messages of this many members, each with a long name.
func (s *target) award(members int) {
	s.t.Helper()
	user := map[string]any{"avatar": nil, "discriminator": "0", "username": strings.Repeat("n", 200)}
	var messages []map[string]any
	for n := range members {
		messages = append(messages, map[string]any{"userId": fmt.Sprint(200000000000000001 + n), "channelId": "400000000000000001", "user": user})
	}
	s.api().Do("POST", "/v2/guilds/"+guildID+"/messages", s.key, map[string]any{"messages": messages}).Want(s.t, 200)
}

// oneCall returns a client that opens a connection for each call.
func oneCall(patience time.Duration) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
}

// opsStatus returns the status of the ops port's answer, or 0 without one.
func (s *target) opsStatus(path string) int {
	status, _ := s.opsGet(path)
	return status
}

func (s *target) opsGet(path string) (status int, body string) {
	answer, err := testenv.Send(s.t.Context(), oneCall(testenv.Patience), "GET", "http://"+s.ops+path, "")
	if err != nil {
		return 0, err.Error()
	}
	return answer.Status, string(answer.Body)
}

// metric returns the value of a series.
func (s *target) metric(series string) (value float64) {
	s.t.Helper()
	_, text := s.opsGet("/metrics")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				s.t.Fatal(err)
			}
			return value
		}
	}
	s.t.Fatalf("/metrics has no series %s", series)
	return 0
}

// ordinary is a well-behaved client. It sends its requests from an address of its own, 127.0.0.1.
type ordinary struct {
	t                  *testing.T
	service            string // the service's address, or a proxy's
	method, path, body string
	headers            []string // name, value, name, value
	transport          *http.Transport
	patience           time.Duration // of one request
}

// client returns an ordinary client that adds XP over connections that stay open.
func (s *target) client() *ordinary {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	o := &ordinary{
		t: s.t, service: s.address, method: "PATCH", path: "/v2/levels/" + guildID + "/users/" + memberID, body: `{"xp":{"increment":1}}`,
		headers: []string{"X-Api-Key", s.key}, transport: &http.Transport{DialContext: dialer.DialContext}, patience: testenv.Patience,
	}
	s.t.Cleanup(o.transport.CloseIdleConnections)
	return o
}

// does sets the client's request.
func (o *ordinary) does(method, path, body string) *ordinary {
	o.method, o.path, o.body = method, path, body
	return o
}

// call sends a request and returns what went wrong, or "". It waits for a busy machine.
func (o *ordinary) call() string {
	client := &http.Client{Transport: o.transport, Timeout: o.patience}
	answer, err := testenv.Send(context.Background(), client, o.method, "http://"+o.service+o.path, o.body, o.headers...)
	if answer.Status/100 != 2 || err != nil {
		return fmt.Sprintf("%d %.500s %v", answer.Status, answer.Body, err)
	}
	return ""
}

// served makes 100 requests in three seconds, of which 99 must succeed.
func (o *ordinary) served() error {
	const all = 100
	failures := make([]string, all)
	var calls sync.WaitGroup
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for n := range all {
		<-tick.C
		calls.Go(func() { failures[n] = o.call() })
	}
	calls.Wait()
	failures = slices.DeleteFunc(failures, func(failure string) bool { return failure == "" })
	if len(failures) > all/100 {
		return fmt.Errorf("%d of %d requests of the ordinary client failed: %.1000s", len(failures), all, failures)
	}
	return nil
}

func (o *ordinary) wantServed() {
	o.t.Helper()
	if err := o.served(); err != nil {
		o.t.Error(err)
	}
}

// soon gives each request one second.
func (o *ordinary) soon() *ordinary {
	o.patience = time.Second
	return o
}

// wantServedSoon is wantServed with one second for each request.
func (o *ordinary) wantServedSoon() {
	o.t.Helper()
	testenv.Again(o.t, o.soon().served)
}

// attackers runs attackers 0 to count-1 until the test ends. One that returns starts again a second later.
func attackers(t *testing.T, count int, attack func(ctx context.Context, n int)) {
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(func() {
		stop()
		all.Wait()
	})
	for n := range count {
		all.Go(func() {
			for ctx.Err() == nil {
				attack(ctx, n)
				pause.For(ctx, time.Second)
			}
		})
	}
}
