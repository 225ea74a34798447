package app_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

const goodPut = `{"userId":"100000000000000007","xp":5,"messageCount":7,"user":` + goodUser + `}`

func putsBody(members ...string) string {
	return `{"mode":"set","members":[` + strings.Join(members, ",") + `]}`
}

// putOf is a good member but for what is given.
func putOf(userID, xp, messageCount, user string) string {
	return `{"userId":` + userID + `,"xp":` + xp + `,"messageCount":` + messageCount + `,"user":` + user + `}`
}

// badIDs are no user's ids.
var badIDs = map[string]string{
	"number": "100000000000000007", "true": "true", "null": "null", "object": "{}", "array": `["100000000000000007"]`, "empty": `""`, "short": `"1"`, "leading 0": `"0100000000000000007"`,
	"of 20": `"10000000000000000007"`, "letter": `"10000000000000000a"`, "space": `" 100000000000000007"`, "newline": `"100000000000000007\n"`, "NUL": `"100000000000000007\u0000"`,
	"sign": `"+100000000000000007"`, "other digits": `"١٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٧"`, "a word": `"@me"`, "long": `"` + strings.Repeat("1", 5000) + `"`,
}

// badPuts are members that are refused wherever they stand.
func badPuts() map[string]string {
	const user = `"100000000000000007"`
	all := map[string]string{
		"null": "null", "string": user, "number": "1", "array": "[]", "array of one": "[" + goodPut + "]", "empty": "{}", "without userId": `{"xp":5}`, "without xp": `{"userId":` + user + `}`,
		"unknown property": `{"level":1,` + goodPut[1:], "present": `{"present":true,` + goodPut[1:], "userid": strings.Replace(goodPut, "userId", "userid", 1), "XP": strings.Replace(goodPut, `"xp"`, `"XP"`, 1),
		"userId twice": `{"userId":` + user + `,` + goodPut[1:], "xp twice": `{"xp":5,` + goodPut[1:], "XP too": `{"XP":5,` + goodPut[1:], "messageCount twice": `{"messageCount":7,` + goodPut[1:],
		"user twice": `{"user":` + goodUser + `,` + goodPut[1:], "xp twice, once escaped": `{"\u0078p":5,` + goodPut[1:], "trailing comma": goodPut[:len(goodPut)-1] + ",}",
		"user null": putOf(user, "5", "7", "null"), "user empty": putOf(user, "5", "7", "{}"), "user string": putOf(user, "5", "7", `"ada"`),
	}
	for name, id := range badIDs {
		all["userId "+name] = putOf(id, "5", "7", goodUser)
	}
	for name, number := range map[string]string{
		"null": "null", "true": "true", "string": `"1"`, "array": "[1]", "object": `{"increment":1}`, "negative": "-1", "too large": "2147483648", "fraction": "1.5", "enormous": "1e400",
		"of many digits": strings.Repeat("9", 500), "leading 0": "01", "plus": "+1", "NaN": "NaN", "hexadecimal": "0x1",
	} {
		all["xp "+name], all["messageCount "+name] = putOf(user, number, "7", goodUser), putOf(user, "5", number, goodUser)
	}
	for name, body := range badCreateBodies {
		// A bad user of a new member is bad here.
		if sent, ok := strings.CutPrefix(body, `{"xp":1,"user":`); ok {
			all["as of a new member, "+name] = putOf(user, "5", "7", strings.TrimSuffix(sent, "}"))
		}
	}
	return all
}

// goodPuts are n members, each another one.
func goodPuts(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`{"userId":"%d","xp":1}`, 200000000000000000+i)
	}
	return putsBody(members...)
}

func badPutBodies() map[string]string {
	other := strings.Replace(goodPut, "007", "008", 1)
	all := map[string]string{
		"no members": putsBody(), "1001 members": goodPuts(1001), "members null": `{"mode":"set","members":null}`, "members object": `{"mode":"set","members":` + goodPut + `}`,
		"members string": `{"mode":"set","members":"100000000000000007"}`, "a member alone": goodPut, "an array of members": "[" + goodPut + "]", "no comma": putsBody(goodPut + other),
		"two commas": putsBody(goodPut, "", other), "a comma at the end": putsBody(goodPut, ""), "messages": strings.Replace(putsBody(goodPut), "members", "messages", 1),
		"a member twice": putsBody(goodPut, goodPut), "a member twice, with others between": putsBody(goodPut, other, `{"userId":"100000000000000007","xp":9}`),
		"a member twice, once escaped": putsBody(goodPut, `{"userId":"\u003100000000000000007","xp":9}`),
	}
	for _, mode := range []string{`null`, `""`, `"Set"`, `"SET"`, `" set"`, `"sets"`, `"replace"`, `1`, `true`, `{}`, `["set"]`, `"set\u0000"`} {
		all["mode "+mode] = strings.Replace(putsBody(goodPut), `"set"`, mode, 1)
	}
	for name, bad := range badPuts() {
		all[name+", alone"] = putsBody(bad)
		all[name+", last"] = putsBody(other, bad)
	}
	return all
}

func presenceBody(present, userIDs string) string {
	return `{"present":` + present + `,"userIds":` + userIDs + `}`
}

// The member of TestBadInput is among those who are to leave, so that one who left would show.
func badPresences() map[string]string {
	all := map[string]string{}
	for _, present := range []string{`null`, `0`, `1`, `"false"`, `""`, `{}`, `[false]`} {
		all["present "+present] = presenceBody(present, `["{user}"]`)
	}
	for _, users := range []string{`null`, `[]`, `{}`, `"{user}"`, `["{user}",]`, `[["{user}"]]`, `[{"userId":"{user}"}]`, `["{user}"` + strings.Repeat(`,"{user}"`, 1000) + `]`} {
		all["userIds "+users[:min(len(users), 40)]] = presenceBody("false", users)
	}
	for name, id := range badIDs {
		all["userId "+name] = presenceBody("false", `["{user}",`+id+`]`)
	}
	maps.Copy(all, map[string]string{
		"no userIds": `{"present":false}`, "no present": `{"userIds":["{user}"]}`, "userId": `{"present":false,"userId":"{user}"}`, "absent": `{"absent":true,"userIds":["{user}"]}`,
		"users": `{"present":false,"users":["{user}"]}`, "more": `{"present":false,"userIds":["{user}"],"reason":"left"}`,
	})
	return all
}

// The sentence names the member and the property that is bad.
func TestBadPutsAreNamed(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	g := s.guild(nil)
	key := s.key(g)
	const user = `"100000000000000007"`
	first := strings.TrimSuffix(strings.TrimPrefix(goodPuts(17), `{"mode":"set","members":[`), "]}")
	for bad, want := range map[string]string{
		putOf(`"1"`, "5", "7", goodUser):                                   "members[17].userId must be 17 to 19 digits",
		putOf(user, "-1", "7", goodUser):                                   "members[17].xp must be",
		putOf(user, `"5"`, "7", goodUser):                                  "members[17].xp must be",
		putOf(user, "5", "1.5", goodUser):                                  "members[17].messageCount must be",
		putOf(user, "5", "7", `{}`):                                        "members[17].user.avatar is required",
		putOf(user, "5", "7", strings.Replace(goodUser, "null", `"x"`, 1)): "members[17].user.avatar must be an avatar hash",
		`{"userId":` + user + `}`:                                          "members[17].xp is required",
		`{"userId":"200000000000000003","xp":1}`:                           "members[17].userId is given more than once",
		`{"userId":` + user + `,"xp":1,"roleIds":[]}`:                      `"roleIds" is not a property of members[17]`,
	} {
		got := s.bad("PUT", bulkPath(g), key, putsBody(first, bad))
		wantFailure(t, got, 400)
		if message := got.Message(t); !strings.Contains(message, want) {
			t.Errorf("the message is %q, want %q in it", message, want)
		}
	}
	for body, want := range map[string]string{
		strings.Replace(putsBody(goodPut), "set", "sets", 1): "mode must be set, higher, add or missing",
		goodPuts(1001): "members must have 1 to 1000 items",
	} {
		if message := s.bad("PUT", bulkPath(g), key, body).Want(t, 400).Message(t); !strings.Contains(message, want) {
			t.Errorf("the message is %q, want %q in it", message, want)
		}
	}
	for body, want := range map[string]string{
		presenceBody("false", `["100000000000000007","x"]`): "userIds[1] must be 17 to 19 digits",
		presenceBody("false", `[]`):                         "userIds must have 1 to 1000 items",
		presenceBody(`"no"`, `["100000000000000007"]`):      "present must be",
	} {
		if message := s.bad("PUT", presencePath(g), key, body).Want(t, 400).Message(t); !strings.Contains(message, want) {
			t.Errorf("the message is %q, want %q in it", message, want)
		}
	}
	if n := len(s.board(key, g, 1).Levels); n != 0 {
		t.Errorf("refused calls made %d members", n)
	}
}
