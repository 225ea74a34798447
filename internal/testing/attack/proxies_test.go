//go:build linux

package attack

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// proxies are those of deploy/proxies: what surrounds the documented file, what replaces TLS in it, and how to run it. FRONT and DIR are
// the proxy's address and directory, ADDRn and OPSn those of two services.
var proxies = map[string]struct {
	file, before, after string
	local               []string // old, new, old, new
	command             []string
}{
	"nginx": {
		file: "nginx.conf",
		before: "user root; daemon off; pid DIR/pid; error_log stderr; worker_rlimit_nofile 16384; events { worker_connections 8192; }\nhttp { access_log off;" +
			"client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;\n",
		after:   "}\n",
		local:   []string{"listen 443 ssl", "listen FRONT", "ssl_certificate ", "#", "ssl_certificate_key", "#", "server 127.0.0.1:8080;", "server ADDR1; server ADDR2;", "$host;", "$http_host;"},
		command: []string{"nginx", "-e", "stderr", "-c", "DIR/nginx.conf"},
	},
	"haproxy": {
		file: "haproxy.cfg",
		local: []string{
			"bind :443 ssl crt /etc/haproxy/levels.example.org.pem", "bind FRONT",
			"10.0.0.11:8080\n", "ADDR1 port OPS1\n", "10.0.0.12:8080\n", "ADDR2 port OPS2\n", "10.0.0.11:8080", "ADDR1", "10.0.0.12:8080", "ADDR2",
		},
		command: []string{"haproxy", "-db", "-f", "DIR/haproxy.cfg"},
	},
	"caddy": {
		file: "Caddyfile", before: "{\n\tadmin off\n}\n",
		local:   []string{"levels.example.org", "http://FRONT", "127.0.0.1:8080", "ADDR1 ADDR2"},
		command: []string{"caddy", "run", "--adapter", "caddyfile", "--config", "DIR/Caddyfile"},
	},
}

// throughProxy puts the documented proxy in front of the service and returns its address.
func (s *target) throughProxy(name string) (front string) {
	s.t.Helper()
	front = testenv.FreeAddr(s.t)
	putProxy(s.t, name, front, s, s)
	return front
}

// putProxy puts the documented proxy in front of two services, which may be the same.
func putProxy(t *testing.T, name, front string, one, two *target) {
	t.Helper()
	proxy := proxies[name]
	documented, err := os.ReadFile(filepath.Join("../../../deploy/proxies", proxy.file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	local := strings.NewReplacer(proxy.local...).Replace(string(documented))
	here := strings.NewReplacer("DIR", dir, "FRONT", front, "ADDR1", one.address, "ADDR2", two.address, "OPS1", portOf(one.ops), "OPS2", portOf(two.ops))
	if err := os.WriteFile(filepath.Join(dir, proxy.file), []byte(here.Replace(proxy.before+local+proxy.after)), 0o600); err != nil {
		t.Fatal(err)
	}
	var command []string
	for _, arg := range proxy.command {
		command = append(command, here.Replace(arg))
	}
	// When this process ends, however it ends, read gets the end of its input and the shell kills the proxy.
	program := exec.Command("sh", append([]string{"-c", `"$@" & read -r _; kill $!; wait`, "sh"}, command...)...)
	program.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	program.Stdout, program.Stderr = log, log
	stdin, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = program.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s wrote:\n%.2000s", name, text)
		}
	})
	testenv.Wait(t, name+" passes requests on (make setup installs it)", func() bool {
		status, _ := statusOf("http://" + front + "/v2/openapi.json")
		return status == 200
	})
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

func statusOf(url string) (int, error) {
	client := oneCall(5 * time.Second)
	answer, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}
