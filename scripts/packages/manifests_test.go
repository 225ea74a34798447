package packages

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"
)

// manifests has the parts of the documents that the checks use. Other checks compare the documents with their schemas.
type manifests struct {
	deployment   deployment
	configMaps   map[string]map[string]string
	secrets      map[string]bool
	podSelectors map[string]map[string]string // by kind and name
	monitored    map[string]string            // what the service monitor selects
	opsService   metadata
}

type metadata struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

type deployment struct {
	Spec struct {
		Template struct {
			Metadata metadata `json:"metadata"`
			Spec     struct {
				TerminationGracePeriodSeconds int         `json:"terminationGracePeriodSeconds"`
				InitContainers                []container `json:"initContainers"`
				Containers                    []container `json:"containers"`
				Volumes                       []struct {
					Secret struct {
						SecretName string `json:"secretName"`
					} `json:"secret"`
				} `json:"volumes"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type container struct {
	Name    string `json:"name"`
	EnvFrom []struct {
		ConfigMapRef struct {
			Name string `json:"name"`
		} `json:"configMapRef"`
	} `json:"envFrom"`
	Env []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	VolumeMounts []struct {
		MountPath string `json:"mountPath"`
	} `json:"volumeMounts"`
	Ports []struct {
		Name          string      `json:"name"`
		ContainerPort json.Number `json:"containerPort"`
	} `json:"ports"`
	Resources struct {
		Limits map[string]string `json:"limits"`
	} `json:"resources"`
	LivenessProbe  probe `json:"livenessProbe"`
	ReadinessProbe probe `json:"readinessProbe"`
	StartupProbe   probe `json:"startupProbe"`
	Lifecycle      struct {
		PreStop struct {
			Sleep struct {
				Seconds int `json:"seconds"`
			} `json:"sleep"`
		} `json:"preStop"`
	} `json:"lifecycle"`
}

type probe struct {
	HTTPGet struct {
		Path string `json:"path"`
		Port string `json:"port"`
	} `json:"httpGet"`
}

func (c container) ports() map[string]string {
	ports := map[string]string{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort.String()
	}
	return ports
}

// selecting is a service, or anything with a label selector in one of the usual places.
type selecting struct {
	Metadata metadata          `json:"metadata"`
	Data     map[string]string `json:"data"`
	Spec     struct {
		Selector    map[string]any `json:"selector"`
		PodSelector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"podSelector"`
	} `json:"spec"`
}

// labels returns the selector, which a service has without matchLabels.
func (s selecting) labels() map[string]string {
	labels := map[string]string{}
	selector := s.Spec.Selector
	if within, ok := selector["matchLabels"].(map[string]any); ok {
		selector = within
	}
	for name, value := range selector {
		labels[name], _ = value.(string)
	}
	return labels
}

func parse(t *testing.T, built resmap.ResMap) manifests {
	t.Helper()
	m := manifests{configMaps: map[string]map[string]string{}, secrets: map[string]bool{}, podSelectors: map[string]map[string]string{}}
	for _, resource := range built.Resources() {
		document, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var s selecting
		kind, name := resource.GetKind(), resource.GetName()
		if kind == "Deployment" {
			unmarshal(t, document, &m.deployment)
		}
		unmarshal(t, document, &s)
		switch kind {
		case "ConfigMap":
			m.configMaps[name] = s.Data
		case "Secret":
			m.secrets[name] = true
		case "ServiceMonitor":
			m.monitored = s.labels()
		case "NetworkPolicy":
			m.podSelectors[kind+" "+name] = s.Spec.PodSelector.MatchLabels
		case "Service", "PodDisruptionBudget", "Deployment":
			m.podSelectors[kind+" "+name] = s.labels()
		}
		if name == "levelboard-ops" {
			m.opsService = s.Metadata
		}
	}
	return m
}

func unmarshal(t *testing.T, document []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(document, into); err != nil {
		t.Fatal(err)
	}
}
