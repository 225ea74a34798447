package config

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
)

// Setting describes one environment variable.
type Setting struct {
	Name        string // with the prefix
	Default     string // empty if there is none
	Secret      bool   // may be given as Name_FILE, and is never shown
	Description string
}

// clientURL is the setting that only the client commands read.
var clientURL = Setting{
	Name:        Prefix + "URL",
	Default:     "http://127.0.0.1:8080",
	Description: "Address of the running service, for the commands that are its clients and levelboard-bench.",
}

// Describe lists all settings, in the order of the documentation.
func Describe() []Setting {
	var settings []Setting
	for _, f := range fields() {
		settings = append(settings, Setting{
			Name:        Prefix + f.Tag.Get("env"),
			Default:     f.Tag.Get("envDefault"),
			Secret:      f.Tag.Get("secret") != "",
			Description: strings.ReplaceAll(f.Tag.Get("desc"), "{bounds}", f.Tag.Get("bounds")),
		})
	}
	return append(settings, clientURL)
}

// fields returns the fields of Config that are settings.
func fields() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Config]()), func(f reflect.StructField) bool { return !f.IsExported() })
}

// nameOf returns the variable of a field of Config.
func nameOf(field string) string {
	f, _ := reflect.TypeFor[Config]().FieldByName(field)
	return Prefix + f.Tag.Get("env")
}

// String returns the settings as NAME=value lines with secrets redacted. A URL loses only its password.
func (c Config) String() string {
	var b strings.Builder
	c.each(func(name, value string) { fmt.Fprintf(&b, "%s=%s\n", name, value) })
	return b.String()
}

// GoString keeps secrets out of %#v.
func (c Config) GoString() string { return "config.Config{\n" + c.String() + "}" }

// LogValue keeps secrets out of logs.
func (c Config) LogValue() slog.Value {
	var attrs []slog.Attr
	c.each(func(name, value string) { attrs = append(attrs, slog.String(name, value)) })
	return slog.GroupValue(attrs...)
}

func (c Config) each(yield func(name, value string)) {
	v := reflect.ValueOf(c)
	for _, f := range fields() {
		yield(Prefix+f.Tag.Get("env"), show(v.FieldByIndex(f.Index).Interface(), f.Tag.Get("secret")))
	}
}

func show(value any, secret string) string {
	switch x := value.(type) {
	case []string:
		return strings.Join(x, ",")
	case slog.Level:
		return strings.ToLower(x.String())
	case string:
		switch {
		case secret == "url":
			return RedactURL(x)
		case secret != "" && x != "":
			return redacted
		}
		return x
	default:
		return fmt.Sprint(x)
	}
}
