package guild_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
)

const gid id.Guild = "100000000000000000"

// with returns a document of the required properties and more.
func with(more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"` + more + `}`
}

// full gives every property a value other than its default.
const full = `{"id":"100000000000000000","name":"Gophers & <co>","icon":"a_0123456789abcdef0123456789abcdef","memberCount":2147483647,
	"ownerId":"100000000000000001","adminIds":["100000000000000003","100000000000000002"],"enabled":false,"visibility":"private","embedding":true,
	"vanity":"GoPhers1","curve":[0,75.83333333333333,22.5,1.6666666666666667],"xpGainInterval":10000,"xpPerMessageMin":1000,
	"xpPerMessageMax":1000,"xpGlobalMultiplier":0.1,"ignoredChannelIds":["200000000000000009"],"ignoredRoleIds":["300000000000000009"],"ignoredUserIds":["100000000000000005","100000000000000004"],
	"multipliers":[
		{"id":"6BA7B810-9dad-41d1-80b4-00c04fd430c8","type":"Channel","multiplier":5,"targets":[
			{"id":"200000000000000001","name":"help","parentId":"200000000000000002","position":1,"type":5}]},
		{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","type":"Role","multiplier":0,"targets":[
			{"id":"300000000000000001","name":"Regular","color":16777215,"position":1},{"id":"300000000000000002","name":"x"}]}],
	"roleRewards":[
		{"id":"6ba7b812-9dad-41d1-80b4-00c04fd430c8","level":10000,"stack":false,"roles":[{"id":"300000000000000001","name":"a","color":0}]},
		{"id":"6ba7b813-9dad-41d1-80b4-00c04fd430c8","level":5,"roles":[]},
		{"id":"6ba7b814-9dad-41d1-80b4-00c04fd430c8","level":0,"roles":[]},
		{"id":"6ba7b815-9dad-41d1-80b4-00c04fd430c8","level":5,"stack":true,"roles":[{"id":"300000000000000001","name":"b"}]}],
	"timeZone":"America/Argentina/Buenos_Aires","periods":["month","day"],"seasons":[
		{"id":"spring-27","name":"Frühling 🌱","start":"2027-03-01","end":"2027-06-01"},
		{"id":"winter-26","name":"Winter","start":"2026-12-01","end":"2027-03-01"}],"auditIncrementsFrom":0}`

func parse(t testing.TB, document string) guild.Settings {
	t.Helper()
	s, err := guild.Parse(gid, []byte(document))
	if err != nil {
		t.Fatalf("parsing %s: %v", document, err)
	}
	return s
}

func TestMissingPropertiesHaveDefaults(t *testing.T) {
	want := guild.Settings{
		ID: gid, Name: "Gophers", MemberCount: 5, OwnerID: "200000000000000001", Enabled: true, Visibility: guild.Public,
		XPGainInterval: 60000, XPPerMessageMin: 15, XPPerMessageMax: 40, XPGlobalMultiplier: 1, TimeZone: "UTC", AuditIncrementsFrom: 1000,
	}
	if got := parse(t, with("")); !reflect.DeepEqual(got, want) {
		t.Errorf("the defaults are\n%+v, want\n%+v", got, want)
	}
	// A document with every default written out means the same.
	explicit := with(`"icon":null,"adminIds":[],"enabled":true,"visibility":"public","embedding":false,"vanity":null,"curve":"default","xpGainInterval":60000,
		"xpPerMessageMin":15,"xpPerMessageMax":40,"xpGlobalMultiplier":1,"ignoredChannelIds":[],"ignoredRoleIds":[],"ignoredUserIds":[],"multipliers":[],"roleRewards":[],
		"timeZone":"UTC","periods":[],"seasons":[]`)
	if got := parse(t, explicit); !reflect.DeepEqual(got, want) {
		t.Errorf("with the defaults written out the settings are\n%+v, want\n%+v", got, want)
	}
}

func TestParseReadsEveryProperty(t *testing.T) {
	curve, err := level.NewCurve([]float64{0, 75.83333333333333, 22.5, 1.6666666666666667})
	if err != nil {
		t.Fatal(err)
	}
	white, black, parent, icon := 16777215, 0, id.Channel("200000000000000002"), "a_0123456789abcdef0123456789abcdef"
	want := guild.Settings{
		ID: gid, Name: "Gophers & <co>", Icon: &icon, MemberCount: 2147483647, OwnerID: "100000000000000001",
		AdminIDs: []id.User{"100000000000000003", "100000000000000002"}, Visibility: guild.Private, Embedding: true, Vanity: "gophers1", Curve: curve,
		XPGainInterval: 10000, XPPerMessageMin: 1000, XPPerMessageMax: 1000, XPGlobalMultiplier: 0.1,
		IgnoredChannelIDs: []id.Channel{"200000000000000009"}, IgnoredRoleIDs: []id.Role{"300000000000000009"},
		IgnoredUserIDs: []id.User{"100000000000000005", "100000000000000004"},
		Multipliers: []guild.Multiplier{
			{ID: "6BA7B810-9dad-41d1-80b4-00c04fd430c8", Type: guild.ChannelMultiplier, Multiplier: 5,
				Channels: []guild.Channel{{ID: "200000000000000001", Name: "help", ParentID: &parent, Position: 1, Type: 5}}},
			{ID: "6ba7b811-9dad-41d1-80b4-00c04fd430c8", Type: guild.RoleMultiplier,
				Roles: []guild.Role{{ID: "300000000000000001", Name: "Regular", Color: &white, Position: 1}, {ID: "300000000000000002", Name: "x"}}},
		},
		RoleRewards: []guild.RoleReward{ // sorted by level, equal levels as given
			{ID: "6ba7b814-9dad-41d1-80b4-00c04fd430c8", Level: 0, Stack: true},
			{ID: "6ba7b813-9dad-41d1-80b4-00c04fd430c8", Level: 5, Stack: true},
			{ID: "6ba7b815-9dad-41d1-80b4-00c04fd430c8", Level: 5, Stack: true, Roles: []guild.Role{{ID: "300000000000000001", Name: "b"}}},
			{ID: "6ba7b812-9dad-41d1-80b4-00c04fd430c8", Level: 10000, Roles: []guild.Role{{ID: "300000000000000001", Name: "a", Color: &black}}},
		},
		TimeZone: "America/Argentina/Buenos_Aires", Periods: []period.Kind{period.Monthly, period.Daily},
		Seasons: []period.Season{ // as given
			{ID: "spring-27", Name: "Frühling 🌱", Start: period.DayOf(2027, time.March, 1), End: period.DayOf(2027, time.June, 1)},
			{ID: "winter-26", Name: "Winter", Start: period.DayOf(2026, time.December, 1), End: period.DayOf(2027, time.March, 1)},
		},
	}
	if got := parse(t, full); !reflect.DeepEqual(got, want) {
		t.Errorf("the settings are\n%+v, want\n%+v", got, want)
	}
}

// The command may be older than the service.
func TestUnknownPropertiesOfAnAnswerAreIgnored(t *testing.T) {
	newer := strings.ReplaceAll(full, `"name":`, `"later":[{}],"name":`)
	s, err := guild.Answered([]byte(newer))
	if err != nil || !guild.Same(s, parse(t, full)) {
		t.Errorf("the answer is read as %+v (%v), want the known properties", s, err)
	}
	if _, err := guild.Answered([]byte(`{}`)); err == nil {
		t.Error("an empty answer is accepted")
	}
}

func TestAChannelAndARoleMayHaveTheSameID(t *testing.T) {
	parse(t, multiplier(`"targets":[`+channel+`]},{"type":"Role","multiplier":1,"targets":[{"id":"200000000000000001","name":"x"}]`))
}

func TestDocumentsAreReadAsWritten(t *testing.T) {
	for _, document := range []string{with(""), full, with(`"curve":"mee6"`), with(`"curve":[150,-100,50]`), with(`"multipliers":[{"type":"Role","multiplier":-0,"targets":[]}]`)} {
		s := parse(t, document)
		roundTrip(t, s)
	}
}

func roundTrip(t testing.TB, s guild.Settings) {
	t.Helper()
	encoded, err := guild.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if parsed := parse(t, string(encoded)); !reflect.DeepEqual(parsed, s) {
		t.Errorf("the document is parsed as %+v\nwant %+v", parsed, s)
	}
	archived, err := guild.Unmarshal(encoded)
	if err != nil || !reflect.DeepEqual(archived, s) {
		t.Errorf("the archived document is read as %+v (%v)\nwant %+v", archived, err, s)
	}
}

func TestMarshalWritesEveryProperty(t *testing.T) {
	encoded, err := guild.Marshal(parse(t, with(`"multipliers":[{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","type":"Channel","multiplier":2,
		"targets":[{"id":"200000000000000001","name":"help"}]}],"roleRewards":[{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","level":5,
		"roles":[{"id":"300000000000000001","name":"Regular"}]}],"periods":["week"],
		"seasons":[{"end":"2027-03-01","start":"2026-12-01","name":"Winter","id":"winter-26"}]`)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"100000000000000000","name":"Gophers","icon":null,"memberCount":5,"ownerId":"200000000000000001","adminIds":[],` +
		`"enabled":true,"visibility":"public","embedding":false,"vanity":null,"curve":"default","xpGainInterval":60000,"xpPerMessageMin":15,` +
		`"xpPerMessageMax":40,"xpGlobalMultiplier":1,"ignoredChannelIds":[],"ignoredRoleIds":[],"ignoredUserIds":[],` +
		`"multipliers":[{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","type":"Channel","multiplier":2,"targets":[{"id":"200000000000000001",` +
		`"name":"help","parentId":null,"position":0,"type":0}]}],"roleRewards":[{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","level":5,` +
		`"stack":true,"roles":[{"id":"300000000000000001","name":"Regular","color":null,"position":0}]}],` +
		`"timeZone":"UTC","periods":["week"],"seasons":[{"id":"winter-26","name":"Winter","start":"2026-12-01","end":"2027-03-01"}],"announcements":[],"auditIncrementsFrom":1000}`
	if string(encoded) != want {
		t.Errorf("the document is\n%s, want\n%s", encoded, want)
	}
	for more, curve := range map[string]string{`"curve":"amari"`: `"amari"`, `"curve":[55,-40,20]`: `[55,-40,20]`, `"curve":[0,0.5,1e2]`: `[0,0.5,100]`} {
		encoded, err := guild.Marshal(parse(t, with(more)))
		var got struct{ Curve json.RawMessage }
		if err != nil || json.Unmarshal(encoded, &got) != nil || string(got.Curve) != curve {
			t.Errorf("with %s the curve is written as %s (%v), want %s", more, got.Curve, err, curve)
		}
	}
}

func TestMissingIDsAreGenerated(t *testing.T) {
	document := with(`"multipliers":[{"type":"Role","multiplier":1,"targets":[]},{"type":"Role","multiplier":1,"targets":[]}],"roleRewards":[{"level":1,"roles":[]}]`)
	a, b := parse(t, document), parse(t, document)
	ids := map[guild.UUID]bool{a.Multipliers[0].ID: true, a.Multipliers[1].ID: true, a.RoleRewards[0].ID: true, b.Multipliers[0].ID: true, b.RoleRewards[0].ID: true}
	if len(ids) != 5 || ids[""] {
		t.Errorf("the generated ids are %v, want 5 different ones", ids)
	}
	roundTrip(t, a)
}

func TestUnmarshalErrorsAreInternal(t *testing.T) {
	for _, document := range []string{``, `{}`, with(""), with(`"id":"x"`), with(`"id":"100000000000000000","vanity":"a"`), `{"id":null}`} {
		if _, err := guild.Unmarshal([]byte(document)); err == nil || !fault.Is(err, fault.Internal) {
			t.Errorf("unmarshalling %s gives %v, want fault.Internal", document, err)
		}
	}
}

func TestADocumentTooLargeToPutBackIsRefused(t *testing.T) {
	// The document is short as sent, but too long for a body once the defaults are filled in.
	var multipliers []string
	for m := range 10 {
		var targets []string
		for i := range 400 {
			targets = append(targets, fmt.Sprintf(`{"id":"20000000000000%04d","name":"c"}`, m*1000+i))
		}
		multipliers = append(multipliers, `{"type":"Channel","multiplier":1,"targets":[`+strings.Join(targets, ",")+`]}`)
	}
	document := with(`"multipliers":[` + strings.Join(multipliers, ",") + `]`)
	if len(document) > guild.MaxDocument {
		t.Fatalf("the test's document has %d bytes, too many already", len(document))
	}
	if _, err := guild.Parse(gid, []byte(document)); !fault.Is(err, fault.TooLarge) {
		t.Errorf("parsing gives %v, want fault.TooLarge", err)
	}
}
