package loadgen

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// messages is the fake's messages endpoint: 3 XP for each message, and no cooldown.
func (f *fake) messages(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.admits(w, r) {
		return
	}
	var call struct{ Messages []struct{ UserID string } }
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f.count()
	f.perCall = len(call.Messages)
	answer := `{"results":[`
	for i, m := range call.Messages {
		if i > 0 {
			answer += ","
		}
		if f.onMessage == nil || f.onMessage(f.changes, m.UserID) {
			f.xp[m.UserID] += 3
		}
		answer += fmt.Sprintf(`{"userId":%q,"gained":3,"xp":%d,"level":0,"messageCount":1,"leveledUp":%t,"addRoles":[],"removeRoles":[]}`, m.UserID, f.xp[m.UserID], i == 0)
	}
	if f.onCall != nil && f.onCall(w, f.changes) {
		return
	}
	fmt.Fprint(w, answer+"]}")
}

func startMessages(t *testing.T, f *fake) Options {
	o := startFake(t, f)
	o.Scenario, _ = FindScenario(MessagesScenario)
	o.Skew, o.Batch = Zipf, "10"
	return o
}

func TestMessagesAreCountedAndVerified(t *testing.T) {
	f := &fake{}
	result, err := Run(t.Context(), startMessages(t, f))
	if err != nil {
		t.Fatal(err)
	}
	m, v := result.Messages, result.Verification
	if m.Messages != 10*result.Total.Requests || m.Messages == 0 || m.Gaining != m.Messages || m.Gained != 3*m.Messages || m.LevelUps != result.Total.Requests {
		t.Errorf("%+v of %d calls", m, result.Total.Requests)
	}
	if m.PerCall != 10 || m.Authors < 1 || m.Authors > 10 || m.PerSecond <= 0 || m.Batch != "10" {
		t.Errorf("%+v", m)
	}
	if !v.Passed() || v.Acknowledged != m.Gained || v.Gained != m.Gained {
		t.Errorf("%+v", v)
	}
	var table strings.Builder
	if err := result.WriteTable(&table); err != nil || !strings.Contains(table.String(), "10.0 in a call (batch 10) by ") {
		t.Errorf("%v\n%s", err, table.String())
	}
	if guild, key := f.left(); guild || key {
		t.Error("something is left behind")
	}
}

func TestMessagesThatAreCountedWronglyAreNoticed(t *testing.T) {
	for name, test := range map[string]struct {
		f    *fake
		says string // empty: nothing is wrong
	}{
		"a lost message":          {&fake{onMessage: func(call int, _ string) bool { return call != 9 }}, " XP lost"},
		"done and refused":        {&fake{onCall: refuse(http.StatusForbidden)}, " XP too much"},
		"done, and then an error": {&fake{onCall: refuse(http.StatusServiceUnavailable)}, ""},
		"an answer that is none": {&fake{onCall: func(w http.ResponseWriter, call int) bool {
			if call == 9 {
				fmt.Fprint(w, `{"results":[]}`)
			}
			return call == 9
		}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := runToTheWrong(t, test.f, startMessages(t, test.f))
			if result == nil || result.Total.Requests < 10 {
				t.Fatalf("%+v, %v", result, err)
			}
			if test.says == "" && (err != nil || result.Verification.Unknown == 0 || result.Total.Failed() != 1) || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v\n%+v", err, result.Verification)
			}
		})
	}
}

// refuse answers the ninth call with a status, although it was done.
func refuse(status int) func(http.ResponseWriter, int) bool {
	return func(w http.ResponseWriter, call int) bool {
		if call == 9 {
			w.WriteHeader(status)
		}
		return call == 9
	}
}

func TestAReplayEndsWithItsFile(t *testing.T) {
	f := &fake{}
	o := startMessages(t, f)
	o.Replay, o.Members, o.Duration = saved(t, recorded(t, true)), someRecording.Members, time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := Run(ctx, o)
	if err != nil || result.Interrupted || result.Messages.Messages != someRecording.Messages || !result.Verification.Passed() {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestAGuildThatWasKeptIsNotFilledAgain(t *testing.T) {
	f := &fake{}
	o := startMessages(t, f)
	o.Keep, o.Verify, o.Members = true, false, onePerCall+50
	waits := 0
	o.sleep = func(_ context.Context, d time.Duration) bool {
		if waits++; f.perCall <= 10 || d != 10*time.Second {
			t.Errorf("waits for %v after a call of %d messages", d, f.perCall)
		}
		return true
	}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if waits != 1 {
		t.Errorf("%d waits between the messages that made the members and the load, whose members would all be in their cooldown", waits)
	}
	calls, first := 0, 0
	f.onCall = func(http.ResponseWriter, int) bool {
		if calls++; calls == 1 {
			first = f.perCall
		}
		return false
	}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if first != 10 || len(f.xp) != o.Members || waits != 1 {
		t.Errorf("the first call of a second run had %d messages, for %d members, after %d waits", first, len(f.xp), waits)
	}
}
