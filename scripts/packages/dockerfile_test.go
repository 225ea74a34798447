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

// image is the last stage of the Dockerfile, by kinds of instructions.
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

// dockerfile is parsed by the code that Docker builds it with: an instruction or a flag that does not exist is an error.
func dockerfile(t *testing.T) image {
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
	if len(stages) != 2 {
		t.Fatalf("the Dockerfile has %d stages, not one that builds and one that is delivered", len(stages))
	}
	last := stages[len(stages)-1]
	result := image{base: last.BaseName, environment: map[string]string{}, labels: map[string]string{}}
	for _, command := range last.Commands {
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
