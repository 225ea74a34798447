package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// image is a stage of the Dockerfile, by kinds of instructions.
type image struct {
	base        string
	user        string
	environment map[string]string
	labels      map[string]string
	ports       []string
	volumes     []string
	health      []string
	entrypoint  []string
	command     []string
}

// dockerfile is the service's image.
func dockerfile(t *testing.T) image { return stage(t, 2) }

// botImage is the bot's.
func botImage(t *testing.T) image { return stage(t, 1) }

// stage is parsed by the code that Docker builds it with: an instruction or a flag that does not exist is an error.
func stage(t *testing.T, number int) image {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatalf("Dockerfile: %v", err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatalf("Dockerfile: %v", err)
	}
	if len(stages) != 3 || stages[1].Name != "bot" {
		t.Fatalf("the Dockerfile has %d stages, not one that builds, one that is the bot's and one that is the service's", len(stages))
	}
	delivered := stages[number]
	result := image{base: delivered.BaseName, environment: map[string]string{}, labels: map[string]string{}}
	for _, command := range delivered.Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			result.user = c.User
		case *instructions.EnvCommand:
			put(result.environment, c.Env)
		case *instructions.LabelCommand:
			put(result.labels, c.Labels)
		case *instructions.ExposeCommand:
			result.ports = append(result.ports, c.Ports...)
		case *instructions.VolumeCommand:
			result.volumes = append(result.volumes, c.Volumes...)
		case *instructions.HealthCheckCommand:
			result.health = c.Health.Test
		case *instructions.EntrypointCommand:
			result.entrypoint = c.CmdLine
		case *instructions.CmdCommand:
			result.command = c.CmdLine
		}
	}
	return result
}

func put(into map[string]string, pairs instructions.KeyValuePairs) {
	for _, pair := range pairs {
		into[pair.Key] = pair.Value
	}
}

func TestTheImageIsSmallAndUnprivileged(t *testing.T) {
	image := dockerfile(t)
	checkImage(t, image)
	if got := strings.Join(image.health, " "); got != "CMD /usr/bin/levelboard healthcheck" {
		t.Errorf("the image's health check is %q", got)
	}
	if got := strings.Join(append(image.entrypoint, image.command...), " "); got != "/usr/bin/levelboard serve" {
		t.Errorf("the image runs %q", got)
	}
	if data := image.environment["LEVELBOARD_DATA_DIR"]; !slices.Contains(image.volumes, data) {
		t.Errorf("the data directory %q is not among the image's volumes %v", data, image.volumes)
	}
}

func TestTheBotsImageIsSmallAndUnprivileged(t *testing.T) {
	image := botImage(t)
	checkImage(t, image)
	if got := strings.Join(append(image.entrypoint, image.command...), " ") + strings.Join(image.health, " "); got != "/usr/bin/levelboard-botCMD /usr/bin/levelboard-bot healthcheck" {
		t.Errorf("the bot's image runs and checks %q", got)
	}
	if data := image.environment["LEVELBOARD_BOT_DATA"]; !slices.Contains(image.volumes, data) {
		t.Errorf("the data directory %q is not among the image's volumes %v", data, image.volumes)
	}
	port := strings.TrimPrefix(image.environment["LEVELBOARD_OPS_LISTEN"], ":")
	if !slices.Contains(image.ports, port) || !strings.Contains(read(t, "docs/bot.md"), ":"+port+" in the container image") {
		t.Errorf("the ops port is %s, and exposed are %v; docs/bot.md says another one", port, image.ports)
	}
}

func checkImage(t *testing.T, image image) {
	t.Helper()
	if image.base != "scratch" {
		t.Errorf("the image is built on %s, not on nothing", image.base)
	}
	if !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(image.user) {
		t.Errorf("the image's user is %q, not a number other than 0: Kubernetes cannot tell that a name is not root", image.user)
	}
	for _, label := range []string{"version", "revision", "source", "licenses"} {
		if image.labels["org.opencontainers.image."+label] == "" {
			t.Errorf("the image has no label for its %s", label)
		}
	}
}

func TestThePortsOfTheImageAreTheDocumentedOnes(t *testing.T) {
	image := dockerfile(t)
	for _, setting := range []string{"LEVELBOARD_LISTEN", "LEVELBOARD_OPS_LISTEN"} {
		port := documentedPort(t, setting)
		if image.environment[setting] != ":"+port || !slices.Contains(image.ports, port) {
			t.Errorf("%s is %q in the image, which exposes %v; docs/configuration.md says :%s", setting, image.environment[setting], image.ports, port)
		}
	}
}

// TestTheImageIsBuiltWithTheGoOfTheModule: and so is a release, by scripts/release, whose program names the same version.
func TestTheImageIsBuiltWithTheGoOfTheModule(t *testing.T) {
	goVersion := regexp.MustCompile(`(?m)^FROM .*golang:([0-9.]+) AS build$`).FindStringSubmatch(read(t, "Dockerfile"))
	wanted := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindStringSubmatch(read(t, "go.mod"))
	if goVersion == nil || wanted == nil || !strings.HasPrefix(goVersion[1], wanted[1]+".") {
		t.Fatalf("the Dockerfile builds with Go %v; go.mod wants %v", goVersion, wanted)
	}
	if !strings.Contains(read(t, "scripts/packages/go.mod"), "\ngo "+goVersion[1]+"\n") {
		t.Errorf("the Dockerfile builds with Go %s, which scripts/packages/go.mod does not name", goVersion[1])
	}
}

// TestTheImageStaysUnder64MB: all that the image has beside the binary are certificates, of a quarter of a megabyte.
func TestTheImageStaysUnder64MB(t *testing.T) {
	const most, certificates = 64_000_000, 300_000
	info, err := os.Stat(levelboard)
	if err != nil {
		t.Fatal(err)
	}
	if size := info.Size() + certificates; size >= most {
		t.Errorf("the image would take %d bytes, %d too many", size, size-most)
	}
}
