package packages

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

//go:embed schemas/kubernetes.json
var kubernetesSchemas []byte

// validator checks Kubernetes documents, each against the schema of its kind.
type validator struct {
	compiler *jsonschema.Compiler
	known    map[string]any
}

const schemaAddress = "kubernetes.json"

func newValidator(t *testing.T) *validator {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(kubernetesSchemas))
	if err != nil {
		t.Fatal(err)
	}
	v := &validator{compiler: jsonschema.NewCompiler(), known: document.(map[string]any)["$defs"].(map[string]any)}
	v.compiler.AssertFormat()
	if err := v.compiler.AddResource(schemaAddress, document); err != nil {
		t.Fatal(err)
	}
	return v
}

// check returns what is wrong with a document, also if its kind has no schema here.
func (v *validator) check(document []byte) error {
	// Like the API server, refuse a property that is given twice.
	asJSON, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("not an object: %s", document)
	}
	kind := fmt.Sprintf("%v/%v", object["apiVersion"], object["kind"])
	if v.known[kind] == nil {
		return fmt.Errorf("no schema for %s in schemas/kubernetes.json", kind)
	}
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(kind)
	schema, err := v.compiler.Compile(schemaAddress + "#/$defs/" + escaped)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func TestTheSchemasRefuseInvalidDocuments(t *testing.T) {
	v := newValidator(t)
	const good = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: levelboard}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
`
	if err := v.check([]byte(good)); err != nil {
		t.Fatalf("the valid document: %v, want it accepted", err)
	}
	deployment := read(t, "deploy/kubernetes/base/deployment.yaml")
	for _, wrong := range []struct{ what, document string }{
		{"a property that does not exist", strings.Replace(good, "maxUnavailable", "maxUnavailible", 1)},
		{"a value of another type", strings.Replace(good, "matchLabels: {a: b}", "matchLabels: {a: [b]}", 1)},
		{"a property given twice", strings.Replace(good, "maxUnavailable: 1", "maxUnavailable: 1, maxUnavailable: 2", 1)},
		{"a version that does not exist", strings.Replace(good, "policy/v1", "policy/v3", 1)},
		{"a deployment without a selector", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {}}\n"},
		{"a probe's misspelt property", strings.Replace(deployment, "failureThreshold", "failureTreshold", 1)},
		{"a value outside of its list", strings.Replace(read(t, "deploy/kubernetes/monitoring/service-monitor.yaml"), "port: ops", "port: ops\n      scheme: ftp", 1)},
	} {
		if err := v.check([]byte(wrong.document)); err == nil {
			t.Errorf("%s is accepted", wrong.what)
		}
	}
}
