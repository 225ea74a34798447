package httpapi

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"pgregory.net/rapid"

	"levelboard/internal/usecase/leaderboard"
)

// wantAlike fails unless what plainMessages accepts is accepted by decodeMessages too, and reads the same for both.
func wantAlike(t interface{ Fatalf(string, ...any) }, sent []byte) (accepted bool) {
	got, ok := plainMessages(sent)
	if !ok {
		return false
	}
	want, err := decodeMessages(sent)
	if err != nil {
		t.Fatalf("plainMessages accepts %q, which is refused: %v", sent, err)
	}
	if g, w := told(t, got), told(t, want); g != w {
		t.Fatalf("of %q plainMessages reads\n%s\ninstead of\n%s", sent, g, w)
	}
	return true
}

// told is all that the messages hold.
func told(t interface{ Fatalf(string, ...any) }, messages []leaderboard.Message) string {
	var all strings.Builder
	for _, m := range messages {
		data, err := json.Marshal(m.Data)
		if err != nil {
			t.Fatalf("%v", err)
		}
		fmt.Fprintf(&all, "%q %q %q %q %s\n", m.UserID, m.Channel, m.Parent, m.Roles, data)
	}
	return all.String()
}

// User data is kept until it is in Redis, for a few of a thousand messages.
func TestUserDataDoesNotKeepTheBodyInMemory(t *testing.T) {
	messages, ok := plainMessages([]byte(`{"messages":[{"userId":"100000000000000001","channelId":"200000000000000001",` +
		`"user":{"avatar":"0123456789abcdef0123456789abcdef","discriminator":"0","username":"ada","globalName":"Ada Lovelace"}}]}`))
	if !ok {
		t.Fatal("not read")
	}
	data, text := messages[0].Data, weak.Make(unsafe.StringData(string(messages[0].UserID)))
	clear(messages)
	runtime.GC()
	if text.Value() != nil {
		t.Error("the body is still in memory")
	}
	if data.Username != "ada" || *data.GlobalName != "Ada Lovelace" {
		t.Errorf("got %+v", data)
	}
}

func TestPlainMessagesReadsUsualBodies(t *testing.T) {
	ada := `{"userId":"100000000000000001","channelId":"200000000000000001"`
	for name, body := range map[string]string{
		"two":               `{"messages":[` + ada + `},` + ada + `}]}`,
		"indented":          "{\n\t\"messages\": [\r\n  " + ada + " }\n ] }\n",
		"of a busy bot":     string(busyBody(50)),
		"the most":          string(busyBody(maxMessages)),
		"another order":     `{"messages":[{"roleIds":[],"channelId":"200000000000000001","user":{"username":"","globalName":null,"discriminator":"","avatar":null},"userId":"1000000000000000019"}]}`,
		"no parent":         `{"messages":[` + ada + `,"parentChannelId":null}]}`,
		"escapes":           `{"messages":[` + ada + `,"user":{"avatar":null,"discriminator":"\/","username":"\"\\\b\u00e9","globalName":"\ud83d\ude00 \n"}}]}`,
		"strings at 256":    `{"messages":[` + ada + `,"user":{"avatar":null,"discriminator":"0","username":"` + strings.Repeat("é", 128) + `"}}]}`,
		"escaped up to 256": `{"messages":[` + ada + `,"user":{"avatar":null,"discriminator":"0","username":"` + strings.Repeat(`\u00e9`, 128) + `"}}]}`,
		"as many roles":     `{"messages":[` + ada + `,"roleIds":["300000000000000001"` + strings.Repeat(`,"300000000000000001"`, maxRoles-1) + `]}]}`,
	} {
		if !wantAlike(t, []byte(body)) {
			t.Errorf("%s: plainMessages leaves %.300s to decodeMessages", name, body)
		}
	}
}

// Bodies that are well-formed, odd or slightly wrong, and what becomes of them when some bytes are changed.
func TestPlainMessagesIsAsStrictAsTheDecoder(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		sent := drawBody(t)
		for range rapid.IntRange(0, 3).Draw(t, "mutations") {
			sent = mutate(t, sent)
		}
		if wantAlike(t, []byte(sent)) {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("no body was accepted: that proves nothing")
	}
}

var (
	ids   = []string{`"100000000000000001"`, `"1000000000000000019"`, `"10000000000000000"`}
	badID = []string{`"\u0031000000000000000000"`, `""`, `"1"`, `"0100000000000000001"`, `"10000000000000000001"`, `"10000000000000000a"`, `1`, `null`, `{}`, `"100000000000000001 "`}
	texts = []string{`""`, `"0"`, `"ada"`, `"é"`, `"\u0041\n"`, `"\ud83d\ude00"`, `"a\\"`, `"\""`, `"\/"`}
	bad   = []string{`"\u0000"`, `"\ud800"`, `"\x"`, "\"\x01\"", "\"\xff\"", `null`, `1`, `"\u00"`, `"` + strings.Repeat("é", 129) + `"`, `[]`, `'a'`}
	blank = []string{"", "", "", " ", "\n\t\r", "\u00a0", "\v", "//"}
)

// drawBody makes mostly what is allowed.
func drawBody(t *rapid.T) string {
	pick := func(good, bad []string) string {
		if rapid.IntRange(0, 60).Draw(t, "wrong") == 47 { // rapid draws small numbers more often
			return rapid.SampledFrom(bad).Draw(t, "bad")
		}
		return rapid.SampledFrom(good).Draw(t, "good")
	}
	gap := func() string {
		if rapid.IntRange(0, 20).Draw(t, "gap") != 17 {
			return ""
		}
		return pick(blank[:5], blank[5:])
	}
	object := func(properties [][2]string, required int) string {
		var parts []string
		for i, p := range properties {
			if i < required || rapid.Bool().Draw(t, "there") {
				odd := []string{`"` + strings.ToUpper(p[0]) + `"`, `"more"`, p[0], `"` + properties[0][0] + `"`, fmt.Sprintf(`"\u%04x%s"`, p[0][0], p[0][1:])}
				parts = append(parts, gap()+pick([]string{`"` + p[0] + `"`}, odd)+gap()+":"+gap()+p[1]+gap())
			}
		}
		parts = rapid.Permutation(parts).Draw(t, "order")
		return "{" + strings.Join(parts, ",") + "}"
	}
	var messages []string
	for range rapid.IntRange(1, 3).Draw(t, "messages") {
		var roles []string
		for range rapid.IntRange(0, 3).Draw(t, "roles") {
			roles = append(roles, gap()+pick(ids, badID)+gap())
		}
		user := object([][2]string{
			{"avatar", pick([]string{`null`, `"0123456789abcdef0123456789abcdef"`, `"a_0123456789abcdef0123456789abcdef"`}, []string{`"0"`, `1`, `"0123456789ABCDEF0123456789abcdef"`})},
			{"discriminator", pick(texts, bad)}, {"username", pick(texts, bad)}, {"globalName", pick(append(texts, "null"), bad)},
		}, 3)
		messages = append(messages, object([][2]string{
			{"userId", pick(ids, badID)}, {"channelId", pick(ids, badID)}, {"parentChannelId", pick(append(ids, "null"), badID)},
			{"roleIds", pick([]string{"[" + strings.Join(roles, ",") + "]"}, []string{`null`, `{}`, `[null]`, `[,]`})}, {"user", pick([]string{user}, []string{`null`, `{}`, `[]`})},
		}, 2))
	}
	return gap() + "{" + gap() + `"messages"` + gap() + ":" + gap() + "[" + strings.Join(messages, gap()+","+gap()) + "]" + gap() + "}" + pick([]string{"", "", " "}, []string{"x", "{}", ",", "\x00"})
}

// mutate takes some bytes away, writes others over them, or repeats them.
func mutate(t *rapid.T, s string) string {
	from := rapid.IntRange(0, len(s)).Draw(t, "from")
	to := min(from+rapid.IntRange(0, 30).Draw(t, "length"), len(s))
	switch rapid.IntRange(0, 2).Draw(t, "mutation") {
	case 0:
		return s[:from] + s[to:]
	case 1:
		return s[:from] + rapid.SampledFrom([]string{`"`, `,`, `{`, `}`, `[`, `]`, `:`, `\`, `0`, `null`, " ", "\x00", "\xff", "é"}).Draw(t, "piece") + s[from:]
	default:
		return s[:to] + s[from:]
	}
}

func FuzzPlainMessages(f *testing.F) {
	f.Add([]byte(`{"messages":[{"userId":"100000000000000001","channelId":"100000000000000001","100000000000000001"}]}`))
	f.Add([]byte(`{"messages":[{"userId":"100000000000000001","channelId":"100000000000000001",}]}`))
	f.Add([]byte(`"{""messages"[{"userId":"100000000000000001","channelId":"100000000000000001"}]1`))
	f.Add(busyBody(2))
	for i := range 40 {
		f.Add([]byte(rapid.Custom(drawBody).Example(i)))
	}
	f.Fuzz(func(t *testing.T, sent []byte) { wantAlike(t, sent) })
}
