package loadgen

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var someRecording = Recording{Seed: 4, Members: 500, Skew: Zipf, Batch: Mixed, Messages: 2345}

func recorded(t *testing.T, zipped bool) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := Record(t.Context(), &file, someRecording, zipped); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func saved(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestARecordingIsTheSameEachTimeAndCanBeRead(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		content := recorded(t, zipped)
		if !bytes.Equal(content, recorded(t, zipped)) {
			t.Error("the same seed made another file")
		}
		got, err := CheckRecording(saved(t, content))
		want := someRecording
		want.Format, want.Version = recordingFormat, recordingVersion
		if err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestReplayHandsOutEveryCallOnce(t *testing.T) {
	content := recorded(t, true)
	f, err := openRecording(saved(t, content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	plain := strings.Split(strings.TrimSuffix(string(recorded(t, false)), "\n"), "\n")[1:]
	p := &replay{f: f}
	for i, want := range plain {
		body, more := p.next([]byte("kept "))
		if !more || string(body) != "kept "+want {
			t.Fatalf("call %d: %v, %s", i, more, body)
		}
	}
	if body, more := p.next(nil); more {
		t.Errorf("after the last: %s", body)
	}
	if err := p.problem(); err != nil {
		t.Error(err)
	}
}

func TestADamagedRecordingIsRefused(t *testing.T) {
	plain, zipped := string(recorded(t, false)), string(recorded(t, true))
	header, rest, _ := strings.Cut(plain, "\n")
	one := header[:strings.LastIndex(header, ":")+1] + "1}\n"
	call := func(message string) string { return one + `{"messages":[` + message + "]}\n" }
	const good = `{"userId":"9100000000000000001","channelId":"9200000000000000001"}`
	if _, err := CheckRecording(saved(t, []byte(call(good)))); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ content, says string }{
		"empty":                  {"", "not a recording"},
		"something else":         {"# A day\n", "not a recording"},
		"another version":        {strings.Replace(plain, `"version":1`, `"version":2`, 1), "not a recording"},
		"an unknown property":    {strings.Replace(plain, `"version":1`, `"version":1,"rate":5`, 1), `unknown field "rate"`},
		"a header beyond bounds": {strings.Replace(plain, `"members":500`, `"members":5000001`, 1), "line 1: the header is out of bounds"},
		"fewer members":          {strings.Replace(plain, `"members":500`, `"members":5`, 1), "a user is none of the 5 members"},
		"a call too few":         {header + "\n" + rest[strings.IndexByte(rest, '\n')+1:], "and its header says 2345"},
		"cut off":                {plain[:len(plain)-9], "the file is cut off"},
		"zipped and cut off":     {zipped[:len(zipped)-9], "unexpected EOF"},
		"zipped and damaged":     {zipped[:len(zipped)-8] + "12345678", "checksum"},
		"no call":                {call(""), "line 2: a call has 1 to 1000 messages, not 0"},
		"a call too large":       {call(good + strings.Repeat(","+good, 1000)), "not 1001"},
		"an unknown message":     {call(`{"userId":"9100000000000000001","text":"hello"}`), `line 2: json: unknown field "text"`},
		"two calls in a line":    {strings.TrimSuffix(call(good), "\n") + "{}\n", "something follows"},
		"with spaces":            {call(strings.ReplaceAll(good, `:`, `: `)), "line 2: the call is not compact JSON"},
		"a line without end":     {one + strings.Repeat("x", maxLine+1) + "\n", "line 2: longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := CheckRecording(saved(t, []byte(test.content))); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := CheckRecording(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
