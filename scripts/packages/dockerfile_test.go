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

// image is a stage of the Dockerfile, by kind of instruction.
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

// dockerfile returns the service's image.
func dockerfile(t *testing.T) image { return stage(t, 2) }

// botImage returns the bot's image.
func botImage(t *testing.T) image { return stage(t, 1) }

// stage parses a stage with Docker's own code, which refuses unknown instructions and flags.
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
		t.Fatalf("the Dockerfile has %d stages, want one that builds, the bot's and the service's", len(stages))
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
		t.Errorf("the image's health check is %q, want levelboard healthcheck", got)
	}
	if got := strings.Join(append(image.entrypoint, image.command...), " "); got != "/usr/bin/levelboard serve" {
		t.Errorf("the image runs %q, want levelboard serve", got)
	}
	if data := image.environment["LEVELBOARD_DATA_DIR"]; !slices.Contains(image.volumes, data) {
		t.Errorf("the data directory %q is not among the image's volumes %v", data, image.volumes)
	}
}

func TestTheBotsImageIsSmallAndUnprivileged(t *testing.T) {
	image := botImage(t)
	checkImage(t, image)
	if got := strings.Join(append(image.entrypoint, image.command...), " ") + strings.Join(image.health, " "); got != "/usr/bin/levelboard-botCMD /usr/bin/levelboard-bot healthcheck" {
		t.Errorf("the bot's image runs and checks %q, want levelboard-bot", got)
	}
	if data := image.environment["LEVELBOARD_BOT_DATA"]; !slices.Contains(image.volumes, data) {
		t.Errorf("the data directory %q is not among the image's volumes %v", data, image.volumes)
	}
	port := strings.TrimPrefix(image.environment["LEVELBOARD_OPS_LISTEN"], ":")
	if !slices.Contains(image.ports, port) || !strings.Contains(read(t, "docs/bot.md"), ":"+port+" in the container image") {
		t.Errorf("the bot's ops port is %s, but the image exposes %v and docs/bot.md may name another", port, image.ports)
	}
}

func checkImage(t *testing.T, image image) {
	t.Helper()
	if image.base != "scratch" {
		t.Errorf("the image's base is %s, want scratch", image.base)
	}
	if !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(image.user) {
		t.Errorf("the image's user is %q, want a number other than 0, because Kubernetes cannot tell that a name is not root", image.user)
	}
	for _, label := range []string{"version", "revision", "source", "licenses"} {
		if image.labels["org.opencontainers.image."+label] == "" {
			t.Errorf("the image lacks the label %s", label)
		}
	}
}

func TestTheImagesPortsAreDocumented(t *testing.T) {
	image := dockerfile(t)
	for _, setting := range []string{"LEVELBOARD_LISTEN", "LEVELBOARD_OPS_LISTEN"} {
		port := documentedPort(t, setting)
		if image.environment[setting] != ":"+port || !slices.Contains(image.ports, port) {
			t.Errorf("%s is %q in the image, which exposes %v; docs/configuration.md says :%s", setting, image.environment[setting], image.ports, port)
		}
	}
}

// A release, built by scripts/release, uses the same version of Go.
func TestTheImageIsBuiltWithTheGoOfTheModule(t *testing.T) {
	goVersion := regexp.MustCompile(`(?m)^FROM .*golang:([0-9.]+) AS build$`).FindStringSubmatch(read(t, "Dockerfile"))
	wanted := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindStringSubmatch(read(t, "go.mod"))
	if goVersion == nil || wanted == nil || !strings.HasPrefix(goVersion[1], wanted[1]+".") {
		t.Fatalf("the Dockerfile builds with Go %v, want %v as in go.mod", goVersion, wanted)
	}
	if !strings.Contains(read(t, "scripts/packages/go.mod"), "\ngo "+goVersion[1]+"\n") {
		t.Errorf("the Dockerfile builds with Go %s, but scripts/packages/go.mod has another", goVersion[1])
	}
}

// Besides the binary the image has only certificates of a quarter of a megabyte.
func TestTheImageStaysUnder64MB(t *testing.T) {
	const most, certificates = 64_000_000, 300_000
	info, err := os.Stat(levelboard)
	if err != nil {
		t.Fatal(err)
	}
	if size := info.Size() + certificates; size >= most {
		t.Errorf("the image would have %d bytes, %d too many", size, size-most)
	}
}
