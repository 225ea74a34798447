package packages

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const composeFile = "deploy/compose.yaml"

// compose returns deploy/compose.yaml as `docker compose` reads it: checked against the schema, with variables and defaults filled in.
func compose(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, composeFile)}, cli.WithoutEnvironmentResolution, cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("reading %s: %v", composeFile, err)
	}
	return project
}

func TestComposeServicesHaveLimitsAndHealthChecks(t *testing.T) {
	project := compose(t)
	for name, service := range project.Services {
		if service.MemLimit == 0 {
			t.Errorf("%s has no memory limit", name)
		}
		for dependency, condition := range service.DependsOn {
			if condition.Condition == types.ServiceConditionStarted {
				t.Errorf("%s does not wait for %s to be healthy", name, dependency)
			}
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" && name != "caddy" {
				t.Errorf("%s publishes port %d to other machines", name, port.Target)
			}
		}
		for _, volume := range service.Volumes {
			if _, err := os.Stat(volume.Source); volume.Type == types.VolumeTypeBind && err != nil {
				t.Errorf("%s mounts a path that does not exist: %v", name, err)
			}
		}
		if name == "secrets" {
			continue
		}
		if service.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s has the restart policy %q, want %q", name, service.Restart, types.RestartPolicyUnlessStopped)
		}
		// The project's own images have a health check, which another test checks.
		if service.HealthCheck == nil && name != "levelboard" && name != "bot" {
			t.Errorf("%s has no health check", name)
		}
	}
	for _, name := range []string{"levelboard", "redis", "postgres", "bot", "caddy", "prometheus", "grafana"} {
		if _, found := project.Services[name]; !found {
			t.Errorf("the service %s is missing", name)
		}
	}
}

// A service that was taken over reaches no store but its own, and no store reaches the internet.
func TestComposeKeepsServicesApart(t *testing.T) {
	project := compose(t)
	meets := func(store string) (who []string) {
		for name, service := range project.Services {
			if _, both := service.Networks[store]; both {
				who = append(who, name)
			}
			if _, shared := service.Networks["default"]; shared {
				t.Errorf("%s is in the default network, which all services share", name)
			}
		}
		slices.Sort(who)
		return who
	}
	for _, store := range []string{"redis", "postgres"} {
		if who := meets(store); !slices.Equal(who, slices.Sorted(slices.Values([]string{"levelboard", store}))) || !project.Networks[store].Internal {
			t.Errorf("the store %s shares its network with %v, internal: %v, want only levelboard and internal", store, who, project.Networks[store].Internal)
		}
	}
}

// With a full version the image that was tested is the one that runs.
func TestImagesAreNamedByTheirFullVersion(t *testing.T) {
	for name, service := range compose(t).Services {
		if full := regexp.MustCompile(`:v?\d+\.\d+(\.\d+)?(-|$)|^levelboard`); !full.MatchString(service.Image) {
			t.Errorf("%s runs the image %s, want its full version", name, service.Image)
		}
	}
}

// Docker makes an unnamed volume where an image declares one and nothing is mounted, and `down` leaves it behind.
func TestComposeNamesAllVolumes(t *testing.T) {
	declared := map[string][]string{
		"levelboard": dockerfile(t).volumes, "levelboard-bot": botImage(t).volumes, "redis": {"/data"}, "postgres": {"/var/lib/postgresql/data"}, "prom/prometheus": {"/prometheus"}, "grafana/grafana": {}, "caddy": {"/config", "/data"},
	}
	for name, service := range compose(t).Services {
		image, _, _ := strings.Cut(service.Image, ":")
		volumes, known := declared[image]
		if !known {
			t.Errorf("%s: the test does not know which volumes the image %s declares", name, image)
		}
		mounted := slices.Clone(service.Tmpfs)
		for _, volume := range service.Volumes {
			mounted = append(mounted, volume.Target)
		}
		for _, volume := range volumes {
			if !slices.Contains(mounted, volume) {
				t.Errorf("%s mounts nothing at %s, where its image declares a volume", name, volume)
			}
		}
	}
}

// Volumes keep secrets apart.
func TestASecretIsMountedWhereItIsUsedOnly(t *testing.T) {
	for name, service := range compose(t).Services {
		for _, volume := range service.Volumes {
			owner, isSecret := strings.CutSuffix(volume.Source, "-secrets")
			if isSecret && name != "secrets" && (owner != name || !volume.ReadOnly) {
				t.Errorf("%s mounts the secrets of %s, or may write to its own", name, owner)
			}
		}
		for variable, value := range service.Environment {
			if value != nil && *value != "" && strings.Contains(variable, "PASSWORD") && !strings.HasPrefix(*value, "/run/secrets/") {
				t.Errorf("%s: the password %s is in the file", name, variable)
			}
		}
	}
}

// madeSecrets runs the command of the service secrets, and returns its directory.
func madeSecrets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for range 2 { // the second run changes nothing
		if out, err := exec.Command("sh", filepath.Join(root, "deploy/compose/make-secrets"), dir).CombinedOutput(); err != nil {
			t.Fatalf("make-secrets: %v\n%s", err, out)
		}
	}
	return dir
}

func TestTheSettingsOfComposeExist(t *testing.T) {
	secrets := madeSecrets(t)
	service := compose(t).Services["levelboard"]
	environment := map[string]string{}
	for name, value := range service.Environment {
		environment[name] = strings.ReplaceAll(*value, "/run/secrets/", secrets+"/")
		if strings.HasPrefix(name, "LEVELBOARD_") && !strings.HasSuffix(name, "_FILE") {
			t.Errorf("%s is under environment, so deploy/compose.env cannot change it", name)
		}
	}
	for line := range strings.Lines(read(t, "deploy/compose/defaults.env")) {
		if name, value, set := strings.Cut(strings.TrimSpace(line), "="); set && !strings.HasPrefix(line, "#") {
			environment[name] = value
		}
	}
	checkSettings(t, composeFile, environment)

	example := maps.Clone(environment)
	maps.Copy(example, commented(t, "deploy/compose/example.env"))
	checkSettings(t, "deploy/compose/example.env", example)
}

func TestComposePortsAreTheImages(t *testing.T) {
	for _, port := range compose(t).Services["levelboard"].Ports {
		inside := strconv.Itoa(int(port.Target))
		if inside != documentedPort(t, "LEVELBOARD_LISTEN") && inside != documentedPort(t, "LEVELBOARD_OPS_LISTEN") {
			t.Errorf("the port %s is published, which the image lacks", inside)
		}
	}
	if prometheus := read(t, "deploy/compose/prometheus.yml"); !strings.Contains(prometheus, "port: "+documentedPort(t, "LEVELBOARD_OPS_LISTEN")) {
		t.Error("deploy/compose/prometheus.yml does not scrape the ops port")
	}
}

// TestRedisOfComposeRequiresItsPassword starts a redis-server with the file's own arguments.
func TestRedisOfComposeAsksForItsPassword(t *testing.T) {
	secrets := madeSecrets(t)
	dir := t.TempDir()
	arguments := []string{}
	for _, argument := range compose(t).Services["redis"].Command[1:] {
		arguments = append(arguments, strings.ReplaceAll(argument, "/run/secrets/", secrets+"/"))
	}
	socket := filepath.Join(dir, "redis.sock")
	arguments = append(arguments, "--port", "0", "--unixsocket", socket, "--dir", dir)
	server := exec.CommandContext(t.Context(), need(t, "redis-server"), arguments...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })

	password := strings.TrimSpace(string(mustRead(t, filepath.Join(secrets, "redis/password"))))
	if answer := redis(t, socket, "PING"); !strings.HasPrefix(answer, "-NOAUTH") {
		t.Errorf("without a password Redis answers %q, want NOAUTH", answer)
	}
	if answer := redis(t, socket, "AUTH default "+password); answer != "+OK" {
		t.Errorf("with its password Redis answers %q, want OK", answer)
	}
	for setting, want := range map[string]string{"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"} {
		if answer := redis(t, socket, "AUTH default "+password, "CONFIG GET "+setting); !strings.HasSuffix(answer, want) {
			t.Errorf("Redis has %s %q, want %s", setting, answer, want)
		}
	}
	if url := string(mustRead(t, filepath.Join(secrets, "levelboard/redis-url"))); !strings.Contains(url, ":"+password+"@redis:6379") {
		t.Error("the service's address of Redis does not have its password")
	}
}

func TestPrometheusOfComposeIsValid(t *testing.T) {
	// The rules are mounted beside the configuration, as here.
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "rules"), os.DirFS(filepath.Join(root, "deploy/prometheus/rules"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(read(t, "deploy/compose/prometheus.yml")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(need(t, "promtool"), "check", "config", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "rules found") {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
	if !strings.Contains(read(t, "deploy/compose/prometheus.yml"), "job_name: levelboard") {
		t.Error("the job is not called levelboard, as the rules require")
	}
}

// Grafana's dashboards are mounted where its configuration looks for them, its data source is the file's Prometheus, and the dashboards use
// the chosen data source.
func TestGrafanaOfComposeFindsItsDashboards(t *testing.T) {
	project := compose(t)
	provisioned := read(t, "deploy/grafana/provisioning/dashboards/levelboard.yml")
	mounted := map[string]string{}
	for _, volume := range project.Services["grafana"].Volumes {
		mounted[volume.Target] = volume.Source
	}
	looksIn := regexp.MustCompile(`(?m)^ *path: (.*)$`).FindStringSubmatch(provisioned)
	if looksIn == nil || !strings.HasSuffix(mounted[looksIn[1]], "/deploy/grafana/dashboards") {
		t.Errorf("Grafana looks for dashboards in %v, but mounted are %v", looksIn, mounted)
	}
	for _, directory := range []string{"dashboards", "datasources"} {
		found := false
		for target := range mounted {
			found = found || strings.HasPrefix(target, "/etc/grafana/provisioning/"+directory)
		}
		if !found {
			t.Errorf("nothing is mounted at /etc/grafana/provisioning/%s", directory)
		}
	}
	source := read(t, "deploy/compose/grafana-datasource.yml")
	address := regexp.MustCompile(`(?m)^ *url: http://([a-z]+):([0-9]+)$`).FindStringSubmatch(source)
	if address == nil || len(project.Services[address[1]].Ports) != 1 || strconv.Itoa(int(project.Services[address[1]].Ports[0].Target)) != address[2] {
		t.Errorf("the data source has the address %v, want that of a service of the file", address)
	}
	for _, name := range []string{"overview", "limits"} {
		dashboard := read(t, "deploy/grafana/dashboards/levelboard-"+name+".json")
		for _, uid := range regexp.MustCompile(`"datasource": \{[^}]*"uid": "([^"]*)"`).FindAllStringSubmatch(dashboard, -1) {
			if uid[1] != "${datasource}" {
				t.Errorf("the dashboard %s uses the data source %q, want the chosen one", name, uid[1])
			}
		}
	}
}
