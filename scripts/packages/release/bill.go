package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// modulesOf returns the first binary's information, with the modules of all binaries.
func modulesOf(binaries []string) (info *debug.BuildInfo, err error) {
	for _, binary := range binaries {
		of, err := buildinfo.ReadFile(binary)
		if err != nil {
			return nil, fmt.Errorf("read the modules of %s: %w", binary, err)
		}
		if info == nil {
			info = of
		}
		for _, module := range of.Deps {
			if !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module.Path }) {
				info.Deps = append(info.Deps, module)
			}
		}
	}
	return info, nil
}

// writeBill writes an archive's bill of materials in CycloneDX: its first binary, the modules and Go's standard library.
func (r release) writeBill(path string, binaries []string, info *debug.BuildInfo) error {
	sum, err := sumOf(binaries[0])
	if err != nil {
		return err
	}
	bill := r.bill(info, hex.EncodeToString(sum))
	return create(path, func(f *os.File) error {
		encoder := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true)
		return encoder.EncodeVersion(bill, cyclonedx.SpecVersion1_6)
	})
}

func (r release) bill(info *debug.BuildInfo, sum string) *cyclonedx.BOM {
	platform := map[string]string{}
	for _, s := range info.Settings {
		platform[s.Key] = s.Value
	}
	subject := cyclonedx.Component{
		BOMRef: "levelboard", Type: cyclonedx.ComponentTypeApplication, Name: "levelboard", Version: r.version,
		PackageURL: fmt.Sprintf("pkg:generic/levelboard@%s?os=%s&arch=%s", r.version, platform["GOOS"], platform["GOARCH"]),
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum}},
		Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	standard := strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
	components := []cyclonedx.Component{{
		BOMRef: "pkg:golang/std@" + standard, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: standard,
		PackageURL: "pkg:golang/std@" + standard, Scope: cyclonedx.ScopeRequired,
	}}
	for _, module := range info.Deps {
		// A module replaced by a directory of this repository is our own code.
		if module.Replace != nil {
			continue
		}
		components = append(components, library(module))
	}
	var references []string
	for _, component := range components {
		references = append(references, component.BOMRef)
	}
	bill := cyclonedx.NewBOM()
	// The number depends on the content, so that the same binary has the same one.
	bill.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(subject.PackageURL+"#"+sum)).URN()
	bill.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &subject}
	bill.Components = &components
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: subject.BOMRef, Dependencies: &references}}
	return bill
}

// library returns the component of a module. Its hash is the one in go.sum, over the module's files.
func library(module *debug.Module) cyclonedx.Component {
	purl := "pkg:golang/" + module.Path + "@" + module.Version
	component := cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: module.Path, Version: module.Version,
		PackageURL: purl, Scope: cyclonedx.ScopeRequired,
	}
	if encoded, isH1 := strings.CutPrefix(module.Sum, "h1:"); isH1 {
		if sum, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			component.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
	}
	return component
}
