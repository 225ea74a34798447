package packages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const kubernetesDir = "deploy/kubernetes"

// build returns what `kubectl apply -k` would send for the example, with its secrets.
func build(t *testing.T) resmap.ResMap {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, kubernetesDir))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "example", "secrets"), os.DirFS(secretFiles(t))); err != nil {
		t.Fatal(err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(dir, "example"))
	if err != nil {
		t.Fatalf("kustomize build %s/example: %v", kubernetesDir, err)
	}
	return built
}

func TestEveryManifestFitsItsSchema(t *testing.T) {
	v := newValidator(t)
	var kinds []string
	for _, resource := range build(t).Resources() {
		document, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, resource.GetKind())
		if resource.GetKind() == "PodMonitor" { // the schemas have no schema for it
			continue
		}
		if err := v.check(document); err != nil {
			t.Errorf("%s %s: %v", resource.GetKind(), resource.GetName(), err)
		}
		if resource.GetKind() != "Namespace" && resource.GetNamespace() != "levelboard" {
			t.Errorf("%s %s is in the namespace %q, want levelboard", resource.GetKind(), resource.GetName(), resource.GetNamespace())
		}
	}
	for _, kind := range []string{
		"Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy", "ConfigMap", "Secret",
		"ServiceMonitor", "PodMonitor", "PrometheusRule",
	} {
		if !strings.Contains(" "+strings.Join(kinds, " ")+" ", " "+kind+" ") {
			t.Errorf("the manifests have no %s, only %s", kind, kinds)
		}
	}
}

// The example's patch reaches the rule with the address of all runbooks.
func TestTheRunbooksHaveAnAddress(t *testing.T) {
	for _, resource := range build(t).Resources() {
		if resource.GetKind() != "PrometheusRule" {
			continue
		}
		document, err := resource.AsYAML()
		if err != nil || !strings.Contains(string(document), "labels:\n        url: https://wiki.example.org/levelboard\n") {
			t.Errorf("the patch does not set the address of the runbooks (%v):\n%.600s", err, document)
		}
	}
}

func TestTheSettingsOfKubernetesExist(t *testing.T) {
	manifests := parse(t, build(t))
	secrets := secretFiles(t)
	pod := manifests.deployment.Spec.Template.Spec
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		environment := map[string]string{}
		for _, from := range c.EnvFrom {
			settings, found := manifests.configMaps[from.ConfigMapRef.Name]
			if !found {
				t.Errorf("the container %s has settings from the config map %q, which does not exist", c.Name, from.ConfigMapRef.Name)
			}
			for name, value := range settings {
				environment[name] = value
			}
		}
		for _, e := range c.Env {
			value := e.Value
			if name, mounted := strings.CutPrefix(value, c.VolumeMounts[0].MountPath+"/"); mounted {
				value = filepath.Join(secrets, name)
			}
			environment[e.Name] = value
		}
		checkSettings(t, "container "+c.Name, environment)
		if limit := c.Resources.Limits["memory"]; limit != "512Mi" {
			t.Errorf("the container %s has the memory limit %q, want 512Mi", c.Name, limit)
		}
	}
	if name := pod.Volumes[0].Secret.SecretName; !manifests.secrets[name] {
		t.Errorf("the pods mount the secret %q, which does not exist", name)
	}
}

// The root file system is read-only, but a manager's uploads need space.
func TestKubernetesHasRoomForUploads(t *testing.T) {
	pod := read(t, "deploy/kubernetes/base/deployment.yaml")
	if !strings.Contains(pod, "mountPath: /tmp") || !strings.Contains(pod, "emptyDir:") {
		t.Error("the pod has no volume at /tmp, so uploads cannot be written")
	}
}

func TestKubernetesGivesAReplicaTimeToStop(t *testing.T) {
	manifests := parse(t, build(t))
	pod := manifests.deployment.Spec.Template.Spec
	grace := time.Duration(pod.TerminationGracePeriodSeconds) * time.Second
	for _, settings := range manifests.configMaps {
		stop, err := time.ParseDuration(settings["LEVELBOARD_SHUTDOWN_TIMEOUT"])
		if err != nil {
			t.Fatalf("LEVELBOARD_SHUTDOWN_TIMEOUT: %v", err)
		}
		if wait := time.Duration(pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds) * time.Second; grace < stop+wait+5*time.Second {
			t.Errorf("a replica has %s to stop, but may take %s after waiting %s", grace, stop, wait)
		}
	}
}

func TestKubernetesUsesTheImagesPorts(t *testing.T) {
	manifests := parse(t, build(t))
	container := manifests.deployment.Spec.Template.Spec.Containers[0]
	if container.ports()["http"] != documentedPort(t, "LEVELBOARD_LISTEN") || container.ports()["ops"] != documentedPort(t, "LEVELBOARD_OPS_LISTEN") {
		t.Errorf("the container's ports are %v, want the image's", container.ports())
	}
	for what, probe := range map[string]probe{"/livez": container.LivenessProbe, "/readyz": container.ReadinessProbe, "/livez ": container.StartupProbe} {
		if probe.HTTPGet.Port != "ops" || probe.HTTPGet.Path != strings.TrimSpace(what) {
			t.Errorf("a probe asks for %s on %s, want %s on ops", probe.HTTPGet.Path, probe.HTTPGet.Port, what)
		}
	}
}

func TestSelectorsFindThePods(t *testing.T) {
	manifests := parse(t, build(t))
	labels := manifests.deployment.Spec.Template.Metadata.Labels
	for what, selector := range manifests.podSelectors {
		if len(selector) == 0 {
			t.Errorf("the selector of %s matches every pod of the namespace", what)
		}
		for name, value := range selector {
			if labels[name] != value {
				t.Errorf("%s selects %s=%s, which the pods lack", what, name, value)
			}
		}
	}
	if len(manifests.podSelectors) < 5 {
		t.Errorf("%d resources have selectors, want at least 5", len(manifests.podSelectors))
	}
	for name, value := range manifests.monitored {
		if manifests.opsService.Labels[name] != value {
			t.Errorf("the service monitor selects %s=%s, which the ops port's service lacks", name, value)
		}
	}
	if len(manifests.monitored) == 0 {
		t.Error("the service monitor selects every service")
	}
}
