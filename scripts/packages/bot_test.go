package packages

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func TestTheSettingsOfTheBotExist(t *testing.T) {
	secrets := secretFiles(t)
	service := compose(t).Services["bot"]
	environment := map[string]string{"DISCORD_TOKEN": "given"}
	for name, value := range service.Environment {
		environment[name] = strings.ReplaceAll(*value, "/run/secrets/bot/", secrets+"/")
	}
	maps.Copy(environment, commented(t, "deploy/compose/bot.example.env"))
	checkBotSettings(t, composeFile, environment)

	environment = map[string]string{}
	values := unit(t, botUnitFile)
	for _, assignment := range values["Environment"] {
		name, value, _ := strings.Cut(assignment, "=")
		environment[name] = strings.ReplaceAll(strings.ReplaceAll(value, "%d/", secrets+"/"), "%S/", t.TempDir()+"/")
	}
	maps.Copy(environment, commented(t, "deploy/systemd/levelboard-bot.env"))
	checkBotSettings(t, botUnitFile, environment)
}

// The bot has one pod, with its secrets, its data and settings that a bot accepts.
func TestTheBotsManifestsFitTheirSchemas(t *testing.T) {
	dir, secrets := t.TempDir(), secretFiles(t)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, kubernetesDir, "bot"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "secrets"), os.DirFS(secrets)); err != nil {
		t.Fatal(err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("kustomize build %s/bot: %v", kubernetesDir, err)
	}
	v := newValidator(t)
	for _, resource := range built.Resources() {
		document, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if resource.GetKind() == "PersistentVolumeClaim" { // the schemas have no schema for it
			continue
		}
		if err := v.check(document); err != nil {
			t.Errorf("%s %s: %v", resource.GetKind(), resource.GetName(), err)
		}
	}
	m := parse(t, built)
	var monitor selecting
	unmarshal(t, []byte(read(t, kubernetesDir+"/monitoring/bot-monitor.yaml")), &monitor)
	if pods := m.podSelectors["Deployment levelboard-bot"]; !maps.Equal(monitor.labels(), pods) {
		t.Errorf("Prometheus scrapes pods with the labels %v, and the bot's are %v", monitor.labels(), pods)
	}
	environment := map[string]string{}
	for _, settings := range m.configMaps {
		maps.Copy(environment, settings)
	}
	for _, e := range m.deployment.Spec.Template.Spec.Containers[0].Env {
		environment[e.Name] = filepath.Join(secrets, filepath.Base(e.Value))
	}
	checkBotSettings(t, kubernetesDir+"/bot", environment)
}
