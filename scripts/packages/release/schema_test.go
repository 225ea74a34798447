package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// billSchema returns CycloneDX's schema of the written version, from the module that writes it.
func billSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	listed, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(listed)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, document); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestTheBillFitsItsSchema uses the bill of this test's own binary, which has real modules.
func TestTheBillFitsItsSchema(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bill.cdx.json")
	info, err := modulesOf([]string{binary})
	if err != nil {
		t.Fatal(err)
	}
	if err := (release{version: "v0.8.0-rc.1", time: at}).writeBill(file, []string{binary}, info); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schema := billSchema(t)
	for what, c := range map[string]struct {
		bill  string
		valid bool
	}{
		"the bill":        {string(text), true},
		"a wrong hash":    {strings.Replace(string(text), `"SHA-256"`, `"SHA-255"`, 1), false},
		"a wrong licence": {strings.Replace(string(text), "Apache-2.0", "Apache-2.1", 1), false},
		"no version":      {strings.Replace(string(text), `"specVersion"`, `"specVersions"`, 1), false},
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(c.bill))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != c.valid {
			t.Errorf("%s gives %v, want it valid: %v", what, err, c.valid)
		}
	}
}
