package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

// badRequest is a request that must be refused and change nothing. In path, body and more, {guild}, {user} and {key} stand
// for a guild, a member of it and the id of a key.
type badRequest struct {
	name   string
	method string
	path   string
	body   string
	status int
	header http.Header // over Content-Type: application/json when there is a body
}

// TestBadInput sends every bad request that somebody thought of, one after the other. No store sees one, so one setup is enough. The board's ETag, which any change of
// the guild changes, is looked at after each; the member, the board, the settings and the keys after each table.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	g, u := s.guild(object{"vanity": "gophers", "roleRewards": []object{reward(1, true, roleA)}}), newID()
	id, key := s.mint(object{"guildIds": []string{g}})
	other := s.guild(object{"vanity": "taken"})
	s.create(key, g, u, 4200)
	fill := strings.NewReplacer("{guild}", g, "{user}", u, "{key}", id, "{other}", other)
	look := func() []byte { return s.state(key, memberPath(g, u), boardPath(g, 1), "/admin/guilds", "/admin/keys") }
	before := look()
	etag := s.etag(key, g, 1)
	for group, requests := range badRequests() {
		t.Run(group, func(t *testing.T) {
			s := s.in(t)
			for _, bad := range requests {
				s.refuses(bad, fill, key)
				got, err := s.quick("HEAD", boardPath(g, 1), key, "")
				if err != nil || got.Header.Get("ETag") != etag {
					t.Fatalf("%s: %s %s changed the ETag to %s, %v", bad.name, bad.method, bad.path, got.Header.Get("ETag"), err)
				}
			}
			if after := look(); !bytes.Equal(before, after) {
				t.Fatalf("the state was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// state is what these addresses answer, ETags included.
func (s *service) state(key string, paths ...string) []byte {
	s.t.Helper()
	var all bytes.Buffer
	for _, path := range paths {
		got, err := s.quick("GET", path, key, "", apitest.AdminToken(s.token))
		if err != nil || got.Status != 200 {
			s.t.Fatalf("GET %s: %d %s, %v", path, got.Status, got.Body, err)
		}
		fmt.Fprintf(&all, "%s %s %s\n", path, got.Header.Get("ETag"), got.Body)
	}
	return all.Bytes()
}

func (s *service) refuses(bad badRequest, fill *strings.Replacer, key string) {
	s.t.Helper()
	path := fill.Replace(bad.path)
	got := s.bad(bad.method, path, key, bodyOrNone(fill.Replace(bad.body)), func(r *http.Request) {
		if strings.HasPrefix(path, "/admin") {
			r.Header.Del("X-Api-Key")
			r.Header.Set("Authorization", "Bearer "+s.token)
		}
		for name, values := range bad.header {
			r.Header[name] = values
		}
	})
	if got.Status != bad.status {
		s.t.Errorf("%s: %s %.120s with %.200q is %d %s, want %d", bad.name, bad.method, path, bad.body, got.Status, got.Body, bad.status)
		return
	}
	wantFailure(s.t, got, bad.status)
	if strings.HasPrefix(path, "/v2") {
		wantLimits(s.t, got)
	}
	if len(got.Body) > 600 {
		s.t.Errorf("%s: the message has %d bytes", bad.name, len(got.Body))
	}
}

// badRequests are all of them, by what they are about.
func badRequests() map[string][]badRequest {
	return map[string][]badRequest{
		"paths":           badPaths(),
		"queries":         badQueries(),
		"reads":           badReads(),
		"POST bodies":     badBodies("POST", "/v2/levels/{guild}/users/100000000000000007", `{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"ada"}}`, badCreateBodies),
		"PATCH bodies":    badBodies("PATCH", "/v2/levels/{guild}/users/{user}", `{"xp":{"increment":1}}`, badUpdateBodies),
		"messages":        badBodies("POST", messagesPath("{guild}"), messagesBody(goodMessage), badMessageBodies()),
		"puts":            badBodies("PUT", bulkPath("{guild}"), putsBody(`{"userId":"100000000000000007","xp":5}`), badPutBodies()),
		"presence":        badBodies("PUT", presencePath("{guild}"), presenceBody("false", `["{user}"]`), badPresences()),
		"directories":     badBodies("PUT", directoryPath("{guild}"), `{"name":"x","memberCount":1}`, badDirectories()),
		"guild documents": badBodies("PUT", "/admin/guilds/{guild}", `{"name":"x","memberCount":1,"ownerId":"100000000000000007"}`, badGuildBodies()),
		"keys":            badBodies("POST", "/admin/keys", `{"name":"x","ownerId":"100000000000000007","permission":"read"}`, badKeyBodies),
		"admin paths":     badAdminPaths(),
		"no bodies":       badBodiless(),
	}
}

// badSnowflakes go into a path, so they are encoded.
var badSnowflakes = map[string]string{
	"too short": "1234567890123456", "too long": "12345678901234567890", "leading 0": "012345678901234567", "letter": "12345678901234567a",
	"hexadecimal": "0x1234567890123456", "negative": "-12345678901234567", "sign": "+12345678901234567", "fraction": "123456789012345678.0",
	"space": "%20123456789012345678", "newline": "123456789012345678%0A", "NUL": "123456789012345678%00", "other digits": "%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5%D9%A6%D9%A7%D9%A8%D9%A9",
	"encoded slash": "123456789012345678%2F1", "only an encoded slash": "%2F", "not UTF-8": "%FF23456789012345678", "word": "me", "wildcard": "*",
	"braces": "%7Bid%7D", "enormous": strings.Repeat("1", 3000),
}

func badPaths() []badRequest {
	var all []badRequest
	create, update := `{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"ada"}}`, `{"xp":0}`
	for name, id := range badSnowflakes {
		for method, body := range map[string]string{"GET": "", "POST": create, "PATCH": update, "DELETE": ""} {
			all = append(all,
				badRequest{name + " guild", method, "/v2/levels/" + id + "/users/{user}", body, 400, nil},
				badRequest{name + " user", method, "/v2/levels/{guild}/users/" + id, body, 400, nil})
		}
		all = append(all, badRequest{name + " guild", "POST", messagesPath(id), messagesBody(goodMessage), 400, nil})
		all = append(all, badRequest{name + " guild", "PUT", directoryPath(id), "{}", 400, nil})
		all = append(all, badRequest{name + " guild", "PUT", bulkPath(id), putsBody(goodPut), 400, nil})
		all = append(all, badRequest{name + " guild", "PUT", presencePath(id), presenceBody("false", `["{user}"]`), 400, nil})
		all = append(all, badRequest{name + " guild", "GET", "/v2/guilds/" + id + "/role-rewards/level?level=1&userId={user}", "", 400, nil})
	}
	for name, entry := range map[string]string{
		"hyphen": "go-phers", "underscore": "go_phers", "space": "go%20phers", "dot": "gophers.", "letters beyond ASCII": "g%C3%B6phers",
		"dotless i": "gopher%C4%B1", "Kelvin sign": "%E2%84%AAelvin", "encoded slash": "{guild}%2F", "two ids in one": "{guild}%2Fusers%2F{user}",
		"NUL": "gophers%00", "not UTF-8": "gophers%FF", "percent": "gophers%25",
	} {
		all = append(all, badRequest{"entry with " + name, "GET", "/v2/levels/" + entry + "?page=1", "", 400, nil})
	}
	for _, path := range []string{
		"/v2/levels/{guild}/?page=1", "/v2/levels/{guild}/users", "/v2/levels/{guild}/users/{user}/", "/V2/levels/{guild}?page=1",
		"/v2/levels/{guild}/users/{user}/xp", "/v2/guilds/{guild}/role-rewards/level/?level=1&userId={user}", "/v2/guilds/{guild}/role-rewards",
		"/v2/guilds/{guild}", "/v2/guilds/{guild}/messages/", "/v2/guilds/{guild}/members/", "/v2/guilds/{guild}/Presence", "/v2/guilds/{guild}/Messages", "/v2//levels/{guild}?page=1", "/v2/levels/{guild}/Users/{user}", "/v2/openapi.json/", "/v2/levels", "/v2/levels/", "/v2", "/v2/",
		"/v1/levels/{guild}?page=1", "/levels/{guild}?page=1", "/v2/levels/../openapi.json", "/v2/levels/{guild}%2Fusers/{user}",
	} {
		all = append(all, badRequest{"no such address", "GET", path, "", 404, nil})
	}
	for _, c := range [][2]string{
		{"PUT", "/v2/levels/{guild}/users/{user}"}, {"POST", "/v2/levels/{guild}?page=1"}, {"DELETE", "/v2/levels/{guild}?page=1"},
		{"PATCH", "/v2/levels/gophers"}, {"POST", "/v2/guilds/{guild}/role-rewards/level"}, {"GET", "/v2/guilds/{guild}/messages"}, {"GET", "/v2/guilds/{guild}/directory"}, {"PATCH", "/v2/guilds/{guild}/directory"}, {"POST", bulkPath("{guild}")}, {"DELETE", bulkPath("{guild}")}, {"GET", presencePath("{guild}")}, {"POST", presencePath("{guild}")}, {"PUT", "/v2/openapi.json"}, {"BREW", "/v2/levels/{guild}"},
	} {
		all = append(all, badRequest{"no such method", c[0], c[1], "", 405, nil})
	}
	return all
}

// badNumbers go into a query, for a parameter that is a whole number from 0 or 1.
var badNumbers = map[string]string{
	"empty": "", "negative": "-1", "sign": "%2B1", "space in front": "%201", "space behind": "1%20", "plus as a space": "+1", "fraction": "1.0", "half": "1.5",
	"exponent": "1e0", "hexadecimal": "0x1", "underscore": "1_0", "word": "one", "list": "1,2", "other digits": "%D9%A1", "NUL": "1%00", "null": "null",
	"negative zero": "-0", "quoted": "%221%22", "infinite": "Inf", "malformed": "%zz", "half an escape": "1%", "enormous and negative": "-99999999999999999999",
}

func badQueries() []badRequest {
	var all []badRequest
	query := func(name, path string) { all = append(all, badRequest{name, "GET", path, "", 400, nil}) }
	for name, number := range badNumbers {
		query("page: "+name, "/v2/levels/{guild}?page="+number)
		query("page of a vanity: "+name, "/v2/levels/gophers?page="+number)
		query("level: "+name, "/v2/guilds/{guild}/role-rewards/level?userId={user}&level="+number)
	}
	for name, q := range map[string]string{
		"missing": "", "only its name": "?page", "zero": "?page=0", "another case": "?Page=1", "twice": "?page=1&page=1", "twice, differing": "?page=1&page=2",
		"another one twice": "?page=1&x=1&x=2", "malformed name": "?page=1&%zz=1", "malformed value": "?page=1&x=%f", "semicolon": "?page=1;x=2", "brackets": "?page[]=1",
		"double question mark": "??page=1",
	} {
		query("page: "+name, "/v2/levels/{guild}"+q)
	}
	rewards := "/v2/guilds/{guild}/role-rewards/level?"
	for name, q := range map[string]string{
		"nothing": "", "no level": "userId={user}", "no userId": "level=1", "level beyond": "level=10001&userId={user}", "level far beyond": "level=99999999999999999999&userId={user}",
		"level twice": "level=1&level=1&userId={user}", "userId twice": "level=1&userId={user}&userId={user}", "userId empty": "level=1&userId=",
		"another twice": "level=1&userId={user}&a=1&a=1", "malformed": "level=1&userId={user}&a=%z",
	} {
		query("rewards: "+name, rewards+q)
	}
	for name, id := range badSnowflakes {
		if name != "sign" { // a plus in a query is a space, which is bad too, but another thing
			query("rewards: userId "+name, rewards+"level=1&userId="+id)
		}
	}
	for _, c := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"POST", `{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"ada"}}`}, {"PATCH", `{"xp":0}`}} {
		all = append(all,
			badRequest{"member: malformed", c[0], "/v2/levels/{guild}/users/{user}?a=%zz", c[1], 400, nil},
			badRequest{"member: twice", c[0], "/v2/levels/{guild}/users/{user}?a=1&a=2", c[1], 400, nil})
	}
	for _, q := range []string{"?a=%zz", "?a=1&a=2"} {
		all = append(all, badRequest{"messages: query", "POST", messagesPath("{guild}") + q, messagesBody(goodMessage), 400, nil})
		all = append(all, badRequest{"directory: query", "PUT", directoryPath("{guild}") + q, "{}", 400, nil})
		all = append(all, badRequest{"puts: query", "PUT", bulkPath("{guild}") + q, putsBody(goodPut), 400, nil})
		all = append(all, badRequest{"presence: query", "PUT", presencePath("{guild}") + q, presenceBody("false", `["{user}"]`), 400, nil})
	}
	query("openapi: twice", "/v2/openapi.json?a=1&a=2")
	return all
}

// badBodies are the bodies that are bad for every endpoint, made from a good one, and those that are bad for this one.
func badBodies(method, path, good string, own map[string]string) []badRequest {
	limit := 64 << 10
	if strings.HasSuffix(path, "/messages") || strings.HasSuffix(path, "/directory") || strings.HasSuffix(path, "/members") {
		limit = 1 << 20
	}
	all := []badRequest{
		{"larger than allowed", method, path, good + strings.Repeat(" ", limit+1-len(good)), 413, nil},
		{"much larger", method, path, `{"name":"` + strings.Repeat("x", limit+512<<10) + `"}`, 413, nil},
	}
	bad := func(name, body string) { all = append(all, badRequest{name, method, path, body, 400, nil}) }
	for name, body := range own {
		bad(name, body)
	}
	if !strings.HasSuffix(path, "/directory") { // which requires no property
		bad("an empty object", "{}")
	}
	for name, body := range map[string]string{
		"blank": " \n", "null": "null", "array": "[" + good + "]", "string": `"{}"`, "number": "1", "true": "true",
		"two values": good + good, "something after": good + "x", "a comma after": good + ",", "a NUL after": good + "\x00", "byte order mark": "\ufeff" + good,
		"cut short": good[:len(good)-1], "not UTF-8": good[:len(good)-1] + ",\"x\":\"\xff\"}", "UTF-16": "\xff\xfe{\x00}\x00", "trailing comma": good[:len(good)-1] + ",}",
		"comment": "/* */" + good, "single quotes": strings.ReplaceAll(good, `"`, `'`), "unknown property": good[:len(good)-1] + `,"more":1}`,
		"empty name": good[:len(good)-1] + `,"":1}`, "prototype": good[:len(good)-1] + `,"__proto__":{}}`, "nested deep": strings.Repeat("[", 20000), "form": "xp=1&user=ada",
		"lone surrogate in a name": good[:len(good)-1] + `,"\ud800":1}`,
	} {
		bad(name, body)
	}
	// Each property of the good body: twice, in another case, and null.
	for _, property := range topLevel(good) {
		value := `,"` + property + `":1}`
		bad(property+" twice", good[:len(good)-1]+value)
		bad(property+" in capitals", strings.Replace(good, `"`+property+`"`, `"`+strings.ToUpper(property)+`"`, 1))
		bad(property+" also in capitals", good[:len(good)-1]+`,"`+strings.ToUpper(property)+`":1}`)
		bad(property+" twice, once escaped", good[:len(good)-1]+fmt.Sprintf(`,"\u%04x%s":1}`, property[0], property[1:]))
		bad(property+" missing", strings.Replace(good, `"`+property+`"`, `"x"`, 1))
	}
	for name, header := range map[string]http.Header{
		"text": {"Content-Type": {"text/plain"}}, "form": {"Content-Type": {"application/x-www-form-urlencoded"}}, "none": {"Content-Type": nil},
		"empty": {"Content-Type": {""}}, "another JSON": {"Content-Type": {"application/vnd.api+json"}}, "text/json": {"Content-Type": {"text/json"}},
		"malformed": {"Content-Type": {"application/json; charset"}}, "another charset": {"Content-Type": {"application/json; charset=iso-8859-1"}},
		"a list": {"Content-Type": {"application/json, text/plain"}}, "twice": {"Content-Type": {"application/json", "text/plain"}},
		"compressed":         {"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}},
		"compressed and not": {"Content-Type": {"application/json"}, "Content-Encoding": {"identity", "gzip"}}, "multipart": {"Content-Type": {"multipart/form-data; boundary=x"}},
	} {
		all = append(all, badRequest{"media type: " + name, method, path, good, 415, header})
	}
	return append(all, badRequest{"no body", method, path, "", 400, http.Header{"Content-Type": {"application/json"}}})
}

func topLevel(body string) []string {
	var names []string
	for _, name := range []string{"xp", "user", "name", "memberCount", "ownerId", "permission", "messages", "mode", "members", "present", "userIds"} {
		if strings.Contains(body, `"`+name+`":`) {
			names = append(names, name)
		}
	}
	return names
}

func createBody(xp, user string) string { return `{"xp":` + xp + `,"user":` + user + `}` }

func withUser(user string) string { return createBody("1", user) }

var badCreateBodies = map[string]string{
	"xp negative": createBody("-1", goodUser), "xp too large": createBody("2147483648", goodUser), "xp enormous": createBody("1e400", goodUser),
	"xp of many digits": createBody(strings.Repeat("9", 500), goodUser), "xp fraction": createBody("1.5", goodUser), "xp string": createBody(`"1"`, goodUser),
	"xp null": createBody("null", goodUser), "xp true": createBody("true", goodUser), "xp object": createBody(`{"increment":1}`, goodUser), "xp array": createBody("[1]", goodUser),
	"xp leading 0": createBody("01", goodUser), "xp plus": createBody("+1", goodUser), "xp NaN": createBody("NaN", goodUser), "xp hexadecimal": createBody("0x1", goodUser),
	"user null": withUser("null"), "user string": withUser(`"ada"`), "user array": withUser("[]"), "user empty": withUser("{}"),
	"user without avatar":        withUser(`{"discriminator":"0","username":"ada"}`),
	"user without discriminator": withUser(`{"avatar":null,"username":"ada"}`),
	"user without username":      withUser(`{"avatar":null,"discriminator":"0"}`),
	"username null":              withUser(`{"avatar":null,"discriminator":"0","username":null}`),
	"discriminator null":         withUser(`{"avatar":null,"discriminator":null,"username":"ada"}`),
	"username number":            withUser(`{"avatar":null,"discriminator":"0","username":1}`),
	"discriminator number":       withUser(`{"avatar":null,"discriminator":0,"username":"ada"}`),
	"globalName number":          withUser(`{"avatar":null,"discriminator":"0","username":"ada","globalName":1}`),
	"globalName object":          withUser(`{"avatar":null,"discriminator":"0","username":"ada","globalName":{}}`),
	"locale":                     withUser(`{"avatar":null,"discriminator":"0","username":"ada","locale":"en"}`),
	"locale null":                withUser(`{"avatar":null,"discriminator":"0","username":"ada","locale":null}`),
	"accentColour":               withUser(`{"avatar":null,"discriminator":"0","username":"ada","accentColour":null}`),
	"user id":                    withUser(`{"avatar":null,"discriminator":"0","username":"ada","id":"{user}"}`),
	"username twice":             withUser(`{"avatar":null,"discriminator":"0","username":"ada","username":"ada"}`),
	"Username too":               withUser(`{"avatar":null,"discriminator":"0","username":"ada","Username":"ada"}`),
	"globalname":                 withUser(`{"avatar":null,"discriminator":"0","username":"ada","globalname":"ada"}`),
	"username of 257 bytes":      withUser(`{"avatar":null,"discriminator":"0","username":"` + strings.Repeat("x", 257) + `"}`),
	"username of 129 letters":    withUser(`{"avatar":null,"discriminator":"0","username":"` + strings.Repeat("é", 129) + `"}`),
	"discriminator of 257 bytes": withUser(`{"avatar":null,"discriminator":"` + strings.Repeat("0", 257) + `","username":"ada"}`),
	"globalName of 257 bytes":    withUser(`{"avatar":null,"discriminator":"0","username":"ada","globalName":"` + strings.Repeat("x", 257) + `"}`),
	"username with NUL":          withUser(`{"avatar":null,"discriminator":"0","username":"a\u0000b"}`),
	"discriminator with NUL":     withUser(`{"avatar":null,"discriminator":"\u0000","username":"ada"}`),
	"globalName with NUL":        withUser(`{"avatar":null,"discriminator":"0","username":"ada","globalName":"\u0000"}`),
	"a raw control character":    withUser("{\"avatar\":null,\"discriminator\":\"0\",\"username\":\"a\nb\"}"),
	"username not UTF-8":         withUser("{\"avatar\":null,\"discriminator\":\"0\",\"username\":\"\xc3\x28\"}"),
	"username with a surrogate":  withUser(`{"avatar":null,"discriminator":"0","username":"\ud83d"}`),
	"avatar too short":           withAvatar(`"0123456789abcdef0123456789abcde"`),
	"avatar of 33":               withAvatar(`"0123456789abcdef0123456789abcdef0"`),
	"avatar of 34 without a_":    withAvatar(`"0123456789abcdef0123456789abcdef01"`),
	"avatar in capitals":         withAvatar(`"0123456789ABCDEF0123456789ABCDEF"`),
	"avatar with A_":             withAvatar(`"A_0123456789abcdef0123456789abcdef"`),
	"avatar with b_":             withAvatar(`"b_0123456789abcdef0123456789abcdef"`),
	"avatar of 35":               withAvatar(`"a_0123456789abcdef0123456789abcdef0"`),
	"avatar with a sign":         withAvatar(`"0123456789abcdef0123456789abcde-"`),
	"avatar with a newline":      withAvatar(`"0123456789abcdef0123456789abcdef\n"`),
	"avatar empty":               withAvatar(`""`),
	"avatar number":              withAvatar(`1`),
	"avatar false":               withAvatar(`false`),
	"increment too":              `{"xp":1,"increment":1,"user":` + goodUser + `}`,
	"triggerCooldown":            `{"xp":1,"triggerCooldown":true,"user":` + goodUser + `}`,
}

const goodUser = `{"avatar":null,"discriminator":"0","username":"ada"}`

func withAvatar(avatar string) string {
	return withUser(`{"avatar":` + avatar + `,"discriminator":"0","username":"ada"}`)
}

func withXP(xp string) string { return `{"xp":` + xp + `}` }

var badUpdateBodies = map[string]string{
	"xp null": withXP("null"), "xp true": withXP("true"), "xp string": withXP(`"1"`), "xp array": withXP("[1]"), "xp empty": withXP("{}"), "xp negative": withXP("-1"),
	"xp too large": withXP("2147483648"), "xp fraction": withXP("1.5"), "xp enormous": withXP("1e400"), "xp of many digits": withXP(strings.Repeat("9", 500)),
	"increment 0": withXP(`{"increment":0}`), "increment negative": withXP(`{"increment":-1}`), "increment too large": withXP(`{"increment":2147483648}`),
	"increment fraction": withXP(`{"increment":1.5}`), "increment string": withXP(`{"increment":"1"}`), "increment null": withXP(`{"increment":null}`),
	"increment true": withXP(`{"increment":true}`), "increment object": withXP(`{"increment":{}}`),
	"decrement 0": withXP(`{"decrement":0}`), "decrement negative": withXP(`{"decrement":-1}`), "decrement too large": withXP(`{"decrement":2147483648}`),
	"decrement null": withXP(`{"decrement":null}`), "decrement string": withXP(`{"decrement":"1"}`),
	"both": withXP(`{"increment":1,"decrement":1}`), "both, one null": withXP(`{"increment":1,"decrement":null}`), "one and more": withXP(`{"increment":1,"by":1}`),
	"increment twice": withXP(`{"increment":1,"increment":1}`), "Increment": withXP(`{"Increment":1}`), "increment and Increment": withXP(`{"increment":1,"Increment":1}`),
	"set": withXP(`{"set":1}`), "triggerCooldown null": `{"xp":1,"triggerCooldown":null}`, "triggerCooldown string": `{"xp":1,"triggerCooldown":"true"}`,
	"triggerCooldown number": `{"xp":1,"triggerCooldown":1}`, "triggerCooldown twice": `{"xp":1,"triggerCooldown":true,"triggerCooldown":true}`,
	"triggercooldown": `{"xp":1,"triggercooldown":true}`, "only triggerCooldown": `{"triggerCooldown":true}`, "increment outside": `{"increment":1}`,
	"user": `{"xp":1,"user":` + goodUser + `}`, "level": `{"xp":1,"level":1}`,
}
