package guild_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

func TestInvalidDescriptionsAreRefused(t *testing.T) {
	const snowflake = " must be 17 to 19 digits, the first not 0"
	long := func(list, item string, most int) string {
		items := make([]string, most+1)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":"20000000000000%04d","name":"%s"}`, i, item)
		}
		return `{"` + list + `":[` + strings.Join(items, ",") + `]}`
	}
	for body, want := range map[string]string{
		``:                                      "The body is empty; send a JSON value",
		`[]`:                                    "The body must be an object, not an array",
		`{"name":null}`:                         "name must not be null; it must be a string",
		`{"name":""}`:                           "name must be a string of 1 to 400 bytes",
		`{"Name":"x"}`:                          `"Name" is not a property of the body; write it as "name"`,
		`{"name":"x","name":"x"}`:               "name is given twice",
		`{"icon":"x"}`:                          "icon must be an icon hash (32 lowercase letters or digits, with or without a_ before them) or null",
		`{"memberCount":0}`:                     "memberCount must be a whole number from 1 to 2147483647",
		`{"ownerId":"x"}`:                       `"ownerId" is not a property of the body`,
		`{"roles":null}`:                        "roles must not be null; it must be an array",
		`{"roles":[{"name":"x"}]}`:              "roles[0].id is required",
		`{"roles":[` + channel + `,1]}`:         "roles[1] must be an object, not a number",
		`{"roles":[` + role + `,` + role + `]}`: "roles[1].id repeats 300000000000000001; remove one of them",
		`{"roles":[{"id":"1","name":"x"}]}`:     "roles[0].id" + snowflake,
		`{"channels":[` + channel + `,` + channel + `]}`:                                  "channels[1].id repeats 200000000000000001; remove one of them",
		`{"channels":[{"id":"200000000000000001","name":"x","parentId":"1"}]}`:            "channels[0].parentId must be 17 to 19 digits, the first not 0",
		`{"channels":[{"id":"200000000000000001","name":"x","color":1}]}`:                 `"color" is not a property of channels[0]`,
		`{"roles":[{"id":"200000000000000001","name":"x","position":1,"parentId":null}]}`: `"parentId" is not a property of roles[0]`,
		long("roles", "r", 500):     "roles must have at most 500 items",
		long("channels", "c", 1000): "channels must have at most 1000 items",
	} {
		given, err := guild.ParseDescription([]byte(body))
		if f := fault.From(err); err == nil || f.Code != fault.Invalid || f.Message != want {
			t.Errorf("the description %.100s is read as %+v (%v), want %q", body, given, err, want)
		}
	}
}

func FuzzParseDescription(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"name":"x","icon":null,"memberCount":5}`, `{"roles":[` + role + `],"channels":[` + channel + `]}`, `{"roles":[]}`, `{"icon":"a_0123456789abcdef0123456789abcdef"}`, `{"roles":[{}]}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		given, err := guild.ParseDescription([]byte(body))
		if err != nil {
			onlyInvalid(t, body, err)
			return
		}
		s := parse(t, full)
		settings, d := given.In(s, guild.Directory{})
		if !reflect.DeepEqual(s, parse(t, full)) {
			t.Fatalf("applying %q changed its input settings", body)
		}
		encoded, err := guild.MarshalDirectory(d)
		if err != nil {
			t.Fatal(err)
		}
		if archived, err := guild.UnmarshalDirectory(encoded); err != nil || !guild.SameDirectory(archived, d) {
			t.Fatalf("%q is archived as %s and read as %+v, %v", body, encoded, archived, err)
		}
		if again, same := given.In(settings, d); !guild.Same(again, settings) || !guild.SameDirectory(same, d) {
			t.Fatalf("%q applied twice makes %+v of %+v", body, again, settings)
		}
		document, err := guild.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := guild.Parse(gid, document); err != nil && !fault.Is(err, fault.TooLarge) {
			t.Fatalf("%q makes a document that Parse refuses: %v", body, err)
		}
	})
}

func TestTheDirectoryNamesRolesAndChannels(t *testing.T) {
	s := parse(t, full)
	given, err := guild.ParseDescription([]byte(`{"roles":[{"id":"300000000000000001","name":"New","color":7,"position":70}],
		"channels":[{"id":"200000000000000001","name":"halp","position":9},{"id":"300000000000000002","name":"a channel"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	settings, _ := given.In(s, guild.Directory{})
	seven := 7
	want := parse(t, full)
	renamed := guild.Role{ID: "300000000000000001", Name: "New", Color: &seven, Position: 70}
	want.Multipliers[0].Channels[0] = guild.Channel{ID: "200000000000000001", Name: "halp", Position: 9}
	want.Multipliers[1].Roles[0], want.RoleRewards[2].Roles[0], want.RoleRewards[3].Roles[0] = renamed, renamed, renamed
	if !reflect.DeepEqual(settings, want) {
		t.Errorf("the named settings are\n%+v, want\n%+v", settings, want)
	}
	if !reflect.DeepEqual(s, parse(t, full)) {
		t.Errorf("naming changed its input settings: %+v", s)
	}
}
