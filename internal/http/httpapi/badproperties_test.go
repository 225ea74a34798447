package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"log/slog"

	"levelboard/internal/testing/apitest"
)

const (
	goodUser    = `{"avatar":null,"discriminator":"0","username":"ada"}`
	goodMessage = `{"userId":"100000000000000007","channelId":"500000000000000001","parentChannelId":null,"roleIds":["300000000000000001"],"user":` + goodUser + `}`
	goodPut     = `{"userId":"100000000000000007","xp":5,"messageCount":7,"user":` + goodUser + `}`
	role        = `{"id":"300000000000000001","name":"Regular","color":null,"position":1}`
	channel     = `{"id":"200000000000000001","name":"help","parentId":null,"position":1,"type":0}`
)

func createBody(xp, user string) string { return `{"xp":` + xp + `,"user":` + user + `}` }

func messagesOf(messages ...string) string {
	return `{"messages":[` + strings.Join(messages, ",") + `]}`
}

func putsOf(members ...string) string {
	return `{"mode":"set","members":[` + strings.Join(members, ",") + `]}`
}

func presenceOf(present, userIDs string) string {
	return `{"present":` + present + `,"userIds":` + userIDs + `}`
}

// with returns a valid object with another value of one property.
func with(good, property, was, value string) string {
	return strings.Replace(good, `"`+property+`":`+was, `"`+property+`":`+value, 1)
}

// badIDs are invalid ids in JSON, and no arrays of ids either.
var badIDs = []string{
	"100000000000000007", "true", "{}", `""`, `"1"`, `"0100000000000000007"`, `"10000000000000000007"`, `"10000000000000000a"`, `" 100000000000000007"`, `"100000000000000007\n"`,
	`"100000000000000007\u0000"`, `"+100000000000000007"`, `"١٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٧"`, `"@me"`, `"` + strings.Repeat("1", 5000) + `"`,
}

// badXP are invalid amounts of XP or messages.
var badXP = []string{"null", "true", `"1"`, "[1]", "{}", "-1", "2147483648", "1.5", "1e400", strings.Repeat("9", 500), "01", "+1", "NaN", "0x1"}

// badUsers returns user data that every route refuses.
func badUsers() []string {
	all := []string{"null", `"ada"`, "[]", "{}", strings.Replace(goodUser, `}`, `,"username":"ada"}`, 1), strings.Replace(goodUser, `}`, `,"Username":"ada"}`, 1)}
	for _, property := range []string{`"avatar":null,`, `"discriminator":"0",`, `,"username":"ada"`} {
		all = append(all, strings.Replace(goodUser, property, "", 1))
	}
	for _, more := range []string{`"globalName":1`, `"globalName":{}`, `"globalName":"\u0000"`, `"globalName":"` + strings.Repeat("x", 257) + `"`, `"locale":"en"`, `"accentColour":null`, `"id":"{user}"`, `"globalname":"ada"`} {
		all = append(all, strings.Replace(goodUser, "}", ","+more+"}", 1))
	}
	for _, name := range []string{`null`, `1`, `"` + strings.Repeat("x", 257) + `"`, `"` + strings.Repeat("é", 129) + `"`, `"a\u0000b"`, "\"a\nb\"", "\"\xc3\x28\"", `"\ud83d"`} {
		all = append(all, with(goodUser, "username", `"ada"`, name), with(goodUser, "discriminator", `"0"`, name))
	}
	for _, avatar := range []string{
		`""`, `1`, `false`, `"0123456789abcdef0123456789abcde"`, `"0123456789abcdef0123456789abcdef0"`, `"0123456789abcdef0123456789abcdef01"`, `"0123456789ABCDEF0123456789ABCDEF"`,
		`"A_0123456789abcdef0123456789abcdef"`, `"b_0123456789abcdef0123456789abcdef"`, `"0123456789abcdef0123456789abcde-"`, `"0123456789abcdef0123456789abcdef\n"`,
	} {
		all = append(all, with(goodUser, "avatar", "null", avatar))
	}
	return all
}

// badMessages returns messages that are refused at any index.
func badMessages() []string {
	all := []string{
		"null", `"hello"`, "1", "[]", "[" + goodMessage + "]", "{}", `{"content":"hello",` + goodMessage[1:], `{"channelId":"500000000000000001"}`, `{"userId":"100000000000000007"}`,
		strings.Replace(goodMessage, "userId", "userid", 1), `{"userId":"100000000000000007",` + goodMessage[1:], `{"roleIds":[],` + goodMessage[1:], `{"USERID":"100000000000000007",` + goodMessage[1:],
		`{"\u0075serId":"100000000000000007",` + goodMessage[1:], goodMessage[:len(goodMessage)-1] + ",}", goodMessage[:len(goodMessage)-1] + `,"roleIds"}`,
		with(goodMessage, "roleIds", `["300000000000000001"]`, `["300000000000000001"`+strings.Repeat(`,"300000000000000001"`, 250)+`]`),
	}
	for _, id := range append(badIDs, `["100000000000000007"]`, "null") {
		all = append(all, with(goodMessage, "userId", `"100000000000000007"`, id), with(goodMessage, "channelId", `"500000000000000001"`, id))
		if id != "null" {
			all = append(all, with(goodMessage, "parentChannelId", "null", id))
		}
		all = append(all, with(goodMessage, "roleIds", `["300000000000000001"]`, `["300000000000000001",`+id+`]`), with(goodMessage, "roleIds", `["300000000000000001"]`, strings.Trim(id, "[]")))
	}
	for _, user := range badUsers() {
		all = append(all, with(goodMessage, "user", goodUser, user))
	}
	return all
}

// badPuts returns members that a PUT refuses at any index.
func badPuts() []string {
	all := []string{
		"null", `"100000000000000007"`, "1", "[]", "[" + goodPut + "]", "{}", `{"xp":5}`, `{"userId":"100000000000000007"}`, `{"level":1,` + goodPut[1:], strings.Replace(goodPut, "userId", "userid", 1),
		strings.Replace(goodPut, `"xp"`, `"XP"`, 1), `{"xp":5,` + goodPut[1:], `{"XP":5,` + goodPut[1:], `{"messageCount":7,` + goodPut[1:], `{"\u0078p":5,` + goodPut[1:], goodPut[:len(goodPut)-1] + ",}",
	}
	for _, id := range append(badIDs, "null") {
		all = append(all, with(goodPut, "userId", `"100000000000000007"`, id))
	}
	for _, n := range badXP {
		all = append(all, with(goodPut, "xp", "5", n), with(goodPut, "messageCount", "7", n))
	}
	for _, user := range badUsers() {
		all = append(all, with(goodPut, "user", goodUser, user))
	}
	return all
}

// badPutCalls returns bodies that both routes that put members refuse.
func badPutCalls() []string {
	other := strings.Replace(goodPut, "007", "008", 1)
	all := []string{
		putsOf(), goodPuts(1001), `{"mode":"set","members":null}`, `{"mode":"set","members":` + goodPut + `}`, goodPut, putsOf(goodPut + other), putsOf(goodPut, "", other), putsOf(goodPut, ""),
		putsOf(goodPut, goodPut), putsOf(goodPut, other, `{"userId":"100000000000000007","xp":9}`), putsOf(goodPut, `{"userId":"\u003100000000000000007","xp":9}`),
	}
	for _, mode := range []string{`null`, `""`, `"Set"`, `" set"`, `"sets"`, `"replace"`, `1`, `{}`, `["set"]`, `"set\u0000"`} {
		all = append(all, with(putsOf(goodPut), "mode", `"set"`, mode))
	}
	for _, bad := range badPuts() {
		all = append(all, putsOf(other, bad))
	}
	return all
}

// goodPuts returns n different members.
func goodPuts(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`{"userId":"%d","xp":1}`, 200000000000000000+i)
	}
	return putsOf(members...)
}

// badProperties returns bodies that one route refuses. Package guild tests the rules of a guild's document and directory.
func badProperties() (all []badRequest) {
	refused := func(method, path string, bodies ...string) {
		for _, body := range bodies {
			all = append(all, badRequest{route{method, path, "", body}, 400, nil})
		}
	}
	var creations, changes []string
	for _, xp := range badXP {
		creations = append(creations, createBody(xp, goodUser))
		changes = append(changes, `{"xp":`+xp+`}`)
		changes = append(changes, `{"xp":{"increment":`+xp+`}}`, `{"xp":{"decrement":`+xp+`}}`)
	}
	for _, user := range badUsers() {
		creations = append(creations, createBody("1", user))
	}
	member := "/v2/levels/{guild}/users/{user}"
	refused("POST", member, append(creations, `{}`, `{"xp":1,"increment":1,"user":`+goodUser+`}`, `{"xp":1,"triggerCooldown":true,"user":`+goodUser+`}`)...)
	refused("PATCH", member, append(changes, `{}`, `{"xp":{"increment":0}}`, `{"xp":{"decrement":0}}`, `{"xp":{"increment":1,"decrement":1}}`, `{"xp":{"increment":1,"decrement":null}}`,
		`{"xp":{"increment":1,"by":1}}`, `{"xp":{"increment":1,"increment":1}}`, `{"xp":{"Increment":1}}`, `{"xp":{"set":1}}`, `{"xp":1,"triggerCooldown":null}`, `{"xp":1,"triggerCooldown":"true"}`,
		`{"xp":1,"triggerCooldown":1}`, `{"xp":1,"triggercooldown":true}`, `{"triggerCooldown":true}`, `{"increment":1}`, `{"xp":1,"user":`+goodUser+`}`, `{"xp":1,"level":1}`)...)
	refused("POST", "/v2/guilds/{guild}/messages", `{}`, messagesOf(), messagesOf(goodMessage+strings.Repeat(`,{"userId":"100000000000000007","channelId":"500000000000000001"}`, 1000)),
		`{"messages":null}`, `{"messages":{}}`, `{"messages":`+goodMessage+`}`, goodMessage, messagesOf(goodMessage+goodMessage), messagesOf(goodMessage, "", goodMessage), messagesOf(goodMessage, ""))
	for _, bad := range badMessages() {
		refused("POST", "/v2/guilds/{guild}/messages", messagesOf(bad, goodMessage), messagesOf(goodMessage, bad))
	}
	refused("PUT", "/v2/guilds/{guild}/members", append(badPutCalls(), `{}`, putsOf(`{"present":true,`+goodPut[1:]))...)
	refused("PUT", "/admin/guilds/{guild}/members", badPutCalls()...)
	for _, present := range []string{`null`, `1`, `"true"`, `true,"present":true`} {
		refused("PUT", "/admin/guilds/{guild}/members", putsOf(`{"present":`+present+`,`+goodPut[1:]))
		refused("PUT", "/v2/guilds/{guild}/presence", presenceOf(present, `["{user}"]`))
	}
	for _, id := range append(badIDs, "null") {
		refused("PUT", "/v2/guilds/{guild}/presence", presenceOf("false", `["{user}",`+id+`]`))
	}
	for _, users := range []string{`null`, `[]`, `{}`, `"{user}"`, `["{user}",]`, `[["{user}"]]`, `[{"userId":"{user}"}]`, `["{user}"` + strings.Repeat(`,"{user}"`, 1000) + `]`} {
		refused("PUT", "/v2/guilds/{guild}/presence", presenceOf("false", users))
	}
	refused("PUT", "/v2/guilds/{guild}/presence", `{}`, `{"present":false}`, `{"userIds":["{user}"]}`, `{"present":false,"userIds":["{user}"],"reason":"left"}`)
	refused("PUT", "/v2/guilds/{guild}/directory", `{"name":""}`, `{"roles":[{"id":"3","name":"x"}]}`, `{"channels":[`+channel+`,`+channel+`]}`, `{"vanity":"x"}`, `{"ownerId":"{user}"}`)
	refused("PUT", "/admin/guilds/{guild}", `{}`, `{"name":"x","memberCount":0,"ownerId":"{user}"}`, `{"name":"x","memberCount":1,"ownerId":"{user}","id":"{other}"}`, `{"name":"x","memberCount":1,"ownerId":"{user}","roleRewards":[{"level":-1,"roles":[`+role+`]}]}`)
	refused("POST", "/admin/guilds/{guild}/checkpoints", `{}`, `{"name":""}`, `{"name":1}`, `{"name":null}`, `{"name":"a","x":1}`, `{"name":"`+strings.Repeat("é", 101)+`"}`, `{"name":"a\u0000"}`)
	files := strings.Repeat("0a", 32)
	for _, digest := range []string{`null`, `1`, `""`, `"` + files[1:] + `"`, `"` + strings.ToUpper(files) + `"`, `"` + strings.Repeat("xy", 32) + `"`} {
		refused("POST", "/admin/guilds/{guild}/imports", `{"files":`+digest+`}`, `{"files":"`+files+`","plan":`+digest+`}`)
	}
	refused("POST", "/admin/guilds/{guild}/imports", `{"again":null}`, `{"again":1}`, `{"id":"x"}`)
	refused("POST", "/admin/guilds/{guild}/imports/1/finish", `{}`, `{"members":-1}`, `{"members":null}`, `{"members":"1"}`)
	refused("POST", "/admin/keys", badKeys()...)
	return all
}

func badKeys() []string {
	const good = `{"name":"x","ownerId":"{user}","permission":"read"}`
	all := []string{`{}`, `{"ownerId":"{user}","permission":"read"}`, `{"name":"x","permission":"read"}`, `{"name":"x","ownerId":"{user}"}`}
	for _, name := range []string{"null", `""`, "1"} {
		all = append(all, with(good, "name", `"x"`, name))
	}
	for _, owner := range badIDs {
		all = append(all, with(good, "ownerId", `"{user}"`, owner))
	}
	for _, permission := range []string{`"write"`, `"READ"`, `null`} {
		all = append(all, with(good, "permission", `"read"`, permission))
	}
	for _, more := range []string{
		`"guildIds":null`, `"guildIds":"{guild}"`, `"guildIds":["x"]`, `"guildIds":[1]`, `"expiresAt":"2020-01-01T00:00:00Z"`, `"expiresAt":"2999-01-01"`, `"expiresAt":4102444800`, `"expiresAt":"720h"`,
		`"expiresAt":"2999-01-01T00:00:00"`, `"expiresAt":""`, `"rateLimit":-1`, `"rateLimit":1.5`, `"rateLimit":"120"`, `"rateLimit":99999999999`, `"id":"k3v9qzr2m8xa"`, `"key":"lb_x"`, `"hash":"x"`,
	} {
		all = append(all, good[:len(good)-1]+","+more+"}")
	}
	return all
}

// The message names the invalid item and property.
func TestBadItemsAreNamed(t *testing.T) {
	d := &instant{key: &writer}
	handler, err := New(Deps{Keys: d, Limiter: d, OpenAPI: []byte("{}"), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := apitest.NewClient(t, server.URL)
	messages, puts, presence := route{"POST", "/v2/guilds/{guild}/messages", "", ""}, route{"PUT", "/v2/guilds/{guild}/members", "", ""}, route{"PUT", "/v2/guilds/{guild}/presence", "", ""}
	said := strings.Repeat(goodMessage+",", 17)
	members := strings.TrimSuffix(strings.TrimPrefix(goodPuts(17), `{"mode":"set","members":[`), "]}")
	for _, c := range []struct {
		route
		body, want string
	}{
		{messages, with(goodMessage, "channelId", `"500000000000000001"`, `"1"`), "messages[17].channelId must be 17 to 19 digits"},
		{messages, with(goodMessage, "channelId", `"500000000000000001"`, `1`), "messages[17].channelId must be a string, not a number"},
		{messages, with(goodMessage, "roleIds", `["300000000000000001"]`, `["300000000000000001","x"]`), "messages[17].roleIds[1] must be"},
		{messages, with(goodMessage, "user", goodUser, `{}`), "messages[17].user.avatar is required"},
		{messages, with(goodMessage, "user", goodUser, strings.Replace(goodUser, "null", `"x"`, 1)), "messages[17].user.avatar must be an avatar hash"},
		{messages, with(goodMessage, "user", goodUser, strings.Replace(goodUser, "ada", `\u0000`, 1)), "messages[17].user.username must not contain the character NUL"},
		{messages, `{"userId":"100000000000000007"}`, "messages[17].channelId is required"},
		{messages, `{"more":1}`, `"more" is not a property of messages[17]`},
		{messages, with(goodMessage, "roleIds", `["300000000000000001"]`, `[`+strings.Repeat(`"300000000000000001",`, 250)+`"300000000000000001"]`), "messages[17].roleIds must have at most 250 items"},
		{messages, strings.TrimSuffix(strings.Repeat(goodMessage+",", 984), ","), "messages must have 1 to 1000 items"},
		{puts, with(goodPut, "userId", `"100000000000000007"`, `"1"`), "members[17].userId must be 17 to 19 digits"},
		{puts, with(goodPut, "xp", "5", "-1"), "members[17].xp must be"},
		{puts, with(goodPut, "messageCount", "7", "1.5"), "members[17].messageCount must be"},
		{puts, with(goodPut, "user", goodUser, `{}`), "members[17].user.avatar is required"},
		{puts, `{"userId":"100000000000000007"}`, "members[17].xp is required"},
		{puts, `{"userId":"200000000000000003","xp":1}`, "members[17].userId is given more than once"},
		{puts, `{"userId":"100000000000000007","xp":1,"roleIds":[]}`, `"roleIds" is not a property of members[17]`},
		{puts, "", "members must have 1 to 1000 items"},
		{presence, presenceOf("false", `["{user}","x"]`), "userIds[1] must be 17 to 19 digits"},
		{presence, presenceOf("false", `[]`), "userIds must have 1 to 1000 items"},
		{presence, presenceOf(`"no"`, `["{user}"]`), "present must be"},
	} {
		bad := badRequest{c.route, 400, nil}
		switch {
		case c.route == messages:
			bad.route.body = `{"messages":[` + said + c.body + `]}`
		case c.route == puts && c.body == "":
			bad.route.body = goodPuts(1001)
		case c.route == puts:
			bad.route.body = putsOf(members, c.body)
		default:
			bad.route.body = c.body
		}
		if message := bad.isRefused(t, client); !strings.Contains(message, c.want) {
			t.Errorf("the message is %q, want %q in it", message, c.want)
		}
	}
}

// badOnceNames returns invalid Idempotency-Keys for each route that changes members.
func badOnceNames(routes []route) (all []badRequest) {
	for _, r := range routes {
		if !strings.HasPrefix(r.path, "/v2/") || r.method == "GET" || strings.HasSuffix(r.path, "/presence") ||
			strings.HasSuffix(r.path, "/hidden") || strings.HasSuffix(r.path, "/directory") {
			continue
		}
		for _, values := range [][]string{{""}, {" "}, {"a b"}, {"a\tb"}, {strings.Repeat("x", 129)}, {"ключ"}, {"\xff"}, {"a", "b"}, {"a", "a"}, {"a", ""}} {
			all = append(all, badRequest{r, 400, http.Header{"Idempotency-Key": values}})
		}
	}
	return all
}

func badEventIDs() (all []badRequest) {
	for _, id := range []string{"5", "5-", "-5", "05-0", "5-00", "5 -0", "+5-0", "5-0-0", "x", "99999999999999999999-0", "$", "1.5-0"} {
		all = append(all, badRequest{route{"GET", "/v2/guilds/{guild}/events", "", ""}, 400, http.Header{"Last-Event-Id": {id}}})
	}
	return all
}

// badReasons returns invalid reasons for the audit log.
func badReasons(routes []route) (all []badRequest) {
	for _, r := range routes {
		for _, reason := range []string{"%", "%zz", "%00", "a%00b", "%ff", "%C3", strings.Repeat("%C3%BC", 512) + "x"} {
			if r.method != "GET" {
				all = append(all, badRequest{r, 400, http.Header{"X-Audit-Log-Reason": {reason}}})
			}
		}
	}
	return all
}
