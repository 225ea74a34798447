package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// shell runs lines of a document in a directory, as a reader does.
func shell(t *testing.T, dir, lines string) {
	t.Helper()
	need(t, "openssl")
	command := exec.Command("bash", "-euo", "pipefail", "-c", lines)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("running the document's commands: %v\n%s\n%s", err, lines, out)
	}
}

// The commands of the document run in a directory like a release's, with another directory in place of /.
func TestTheCommandsForSystemdInstallIt(t *testing.T) {
	found := regexp.MustCompile("```sh\n([^`]*systemd/levelboard.service[^`]*)```").FindStringSubmatch(read(t, deployDocument))
	if found == nil {
		t.Fatalf("%s has no commands for systemd", deployDocument)
	}
	unpacked, system := t.TempDir(), t.TempDir()
	if err := os.CopyFS(filepath.Join(unpacked, "systemd"), os.DirFS(filepath.Join(root, "deploy/systemd"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(unpacked, "levelboard"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"usr/local/bin", "etc/systemd/system"} {
		if err := os.MkdirAll(filepath.Join(system, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, unpacked, "sudo() { \"$@\"; }\nsystemctl() { :; }\nREDIS_PASSWORD=r POSTGRES_PASSWORD=p\n"+
		strings.NewReplacer(" /etc/", " "+system+"/etc/", " /usr/", " "+system+"/usr/").Replace(found[1]))

	modes := map[string]os.FileMode{"usr/local/bin/levelboard": 0o755, "etc/systemd/system/levelboard.service": 0o644, "etc/levelboard/levelboard.env": 0o600}
	environment := map[string]string{}
	for _, credential := range unit(t, unitFile)["LoadCredential"] {
		name, path, _ := strings.Cut(credential, ":")
		modes[strings.TrimPrefix(path, "/")] = 0o600
		setting := "LEVELBOARD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_FILE"
		environment[setting] = filepath.Join(system, path)
	}
	for path, mode := range modes {
		info, err := os.Stat(filepath.Join(system, path))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != mode {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), mode)
		}
	}
	checkSettings(t, deployDocument, environment)
}

// The commands at the top of the example run, except the last, which needs a cluster.
func TestTheExampleForKubernetesIsBuiltByItsCommands(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, kubernetesDir))); err != nil {
		t.Fatal(err)
	}
	example := filepath.Join(dir, "example")
	commands := regexp.MustCompile(`(?m)^#   (.*)$`).FindAllStringSubmatch(read(t, kubernetesDir+"/example/kustomization.yaml"), -1)
	if len(commands) < 2 || commands[len(commands)-1][1] != "kubectl apply -k ." {
		t.Fatalf("the example's commands are %q, want kubectl apply -k . as the last", commands)
	}
	var lines strings.Builder
	for _, command := range commands[:len(commands)-1] {
		lines.WriteString(command[1] + "\n")
	}
	shell(t, example, lines.String())
	if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), example); err != nil {
		t.Fatal(err)
	}
	secrets := filepath.Join(example, "secrets")
	checkSettings(t, kubernetesDir, map[string]string{
		"LEVELBOARD_REDIS_URL_FILE": filepath.Join(secrets, "redis-url"), "LEVELBOARD_POSTGRES_URL_FILE": filepath.Join(secrets, "postgres-url"),
		"LEVELBOARD_ADMIN_TOKEN_FILE": filepath.Join(secrets, "admin-token"),
	})
}
