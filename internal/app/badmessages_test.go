package app_test

import (
	"fmt"
	"strings"
	"testing"
)

const goodMessage = `{"userId":"100000000000000007","channelId":"500000000000000001","parentChannelId":null,"roleIds":["300000000000000001"],"user":` + goodUser + `}`

func messagesBody(messages ...string) string {
	return `{"messages":[` + strings.Join(messages, ",") + `]}`
}

// withProperty is a good message but for the value of one property.
func withProperty(name, value string) string {
	good := map[string]string{
		"userId": `"100000000000000007"`, "channelId": `"500000000000000001"`, "parentChannelId": "null", "roleIds": `["300000000000000001"]`, "user": goodUser,
	}
	return strings.Replace(goodMessage, `"`+name+`":`+good[name], `"`+name+`":`+value, 1)
}

// badMessages are messages that are refused wherever they stand.
func badMessages() map[string]string {
	all := map[string]string{
		"null": "null", "string": `"hello"`, "number": "1", "array": "[]", "array of one": "[" + goodMessage + "]", "empty": "{}", "unknown property": `{"content":"hello",` + goodMessage[1:],
		"without userId": `{"channelId":"500000000000000001"}`, "without channelId": `{"userId":"100000000000000007"}`, "userid": strings.Replace(goodMessage, "userId", "userid", 1),
		"userId twice": `{"userId":"100000000000000007",` + goodMessage[1:], "user twice": `{"user":` + goodUser + `,` + goodMessage[1:], "roleIds twice": `{"roleIds":[],` + goodMessage[1:],
		"userId also in capitals": `{"USERID":"100000000000000007",` + goodMessage[1:], "guildId": `{"guildId":"100000000000000007",` + goodMessage[1:], "roles": `{"roles":[],` + goodMessage[1:],
		"userId twice, once escaped": `{"\u0075serId":"100000000000000007",` + goodMessage[1:], "trailing comma": goodMessage[:len(goodMessage)-1] + ",}",
		"a name and no value": goodMessage[:len(goodMessage)-1] + `,"roleIds"}`,
	}
	wrong := map[string]string{
		"number": "100000000000000007", "true": "true", "object": "{}", "empty": `""`, "short": `"1"`, "leading 0": `"0100000000000000007"`, "of 20": `"10000000000000000007"`,
		"letter": `"10000000000000000a"`, "space": `" 100000000000000007"`, "newline": `"100000000000000007\n"`, "NUL": `"100000000000000007\u0000"`, "sign": `"+100000000000000007"`,
		"other digits": `"١٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٧"`, "raw newline": "\"100000000000000007\n\"", "long": `"` + strings.Repeat("1", 5000) + `"`,
	}
	for name, value := range wrong {
		for _, property := range []string{"userId", "channelId", "parentChannelId"} {
			all[property+" "+name] = withProperty(property, value)
			all[property+" in an array"] = withProperty(property, `["100000000000000007"]`)
		}
		all["roleIds "+name] = withProperty("roleIds", value)
		all["role "+name] = withProperty("roleIds", `["300000000000000001",`+value+`]`)
	}
	for _, property := range []string{"userId", "channelId", "roleIds", "user"} {
		all[property+" null"] = withProperty(property, "null")
	}
	all["role null"] = withProperty("roleIds", "[null]")
	all["roles in an array"] = withProperty("roleIds", `[["300000000000000001"]]`)
	all["roles with a trailing comma"] = withProperty("roleIds", `["300000000000000001",]`)
	all["251 roles"] = withProperty("roleIds", `["300000000000000001"`+strings.Repeat(`,"300000000000000001"`, 250)+`]`)
	for name, body := range badCreateBodies {
		// A bad user of a new member is bad here.
		if user, ok := strings.CutPrefix(body, `{"xp":1,"user":`); ok {
			all["as of a new member, "+name] = withProperty("user", strings.TrimSuffix(user, "}"))
		}
	}
	return all
}

// badMessageBodies have a bad message first, in the middle and last.
func badMessageBodies() map[string]string {
	all := map[string]string{
		"no messages": messagesBody(), "1001 messages": messagesBody(goodMessage + strings.Repeat(","+`{"userId":"100000000000000007","channelId":"500000000000000001"}`, 1000)),
		"messages null": `{"messages":null}`, "messages object": `{"messages":{}}`, "messages string": `{"messages":"hello"}`, "one message": `{"messages":` + goodMessage + `}`, "a message alone": goodMessage,
		"an array of messages": "[" + goodMessage + "]", "messages, and then some": `{"messages":[` + goodMessage + `],"dryRun":true}`, "no comma": messagesBody(goodMessage + goodMessage),
		"two commas": messagesBody(goodMessage, "", goodMessage), "a comma at the end": messagesBody(goodMessage, ""), "not closed": `{"messages":[` + goodMessage + `}`,
	}
	for name, bad := range badMessages() {
		all[name+", first"] = messagesBody(bad, goodMessage)
		all[name+", in the middle"] = messagesBody(goodMessage, bad, goodMessage)
		all[name+", last"] = messagesBody(goodMessage, goodMessage, bad)
	}
	return all
}

// The sentence names the message and the property that is bad.
func TestBadMessagesAreNamed(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	g := s.guild(nil)
	key := s.key(g)
	many := strings.Repeat(goodMessage+",", 17)
	for bad, want := range map[string]string{
		withProperty("channelId", `"1"`):                                    "messages[17].channelId must be 17 to 19 digits",
		withProperty("channelId", `1`):                                      "messages[17].channelId must be a string, not a number",
		withProperty("parentChannelId", `"x"`):                              "messages[17].parentChannelId must be",
		withProperty("roleIds", `["300000000000000001","x"]`):               "messages[17].roleIds[1] must be",
		withProperty("user", `{}`):                                          "messages[17].user.avatar is required",
		withProperty("user", strings.Replace(goodUser, "null", `"x"`, 1)):   "messages[17].user.avatar must be an avatar hash",
		withProperty("user", strings.Replace(goodUser, "ada", `\u0000`, 1)): "messages[17].user.username must not contain the character NUL",
		`{"userId":"100000000000000007"}`:                                   "messages[17].channelId is required",
		`{"more":1}`:                                                        `"more" is not a property of messages[17]`,
		withProperty("roleIds", `[`+strings.Repeat(`"300000000000000001",`, 250)+`"300000000000000001"]`): "messages[17].roleIds must have at most 250 items",
		strings.TrimSuffix(strings.Repeat(goodMessage+",", 984), ","):                                     "messages must have 1 to 1000 items",
	} {
		got := s.bad("POST", messagesPath(g), key, `{"messages":[`+many+bad+`]}`)
		wantFailure(t, got, 400)
		if message := got.Message(t); !strings.Contains(message, want) {
			t.Errorf("the message is %q, want %q in it", message, want)
		}
	}
	got := s.bad("POST", messagesPath(g), key, `{"messages":[`+many+goodMessage+`]}`+strings.Repeat(" ", 1<<20))
	wantFailure(t, got, 413)
	if want := fmt.Sprint(1 << 20); !strings.Contains(got.Message(t), want) {
		t.Errorf("the message is %q, want %s in it", got.Message(t), want)
	}
}
