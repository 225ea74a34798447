package httpapi

import "testing"

var updates = []string{
	`{"xp":{"increment":5}}`, `{"xp":{"decrement":2147483647}}`, `{"xp":0}`, `{"xp":2147483647,"triggerCooldown":true}`,
	` { "triggerCooldown" : false , "xp" : { "increment" : 10 } } `, "\n{\"xp\":\t7}\r",
	`{"xp":{"increment":0}}`, `{"xp":2147483648}`, `{"xp":01}`, `{"xp":1.0}`, `{"xp":1e2}`, `{"xp":-1}`, `{"xp":+1}`, `{"xp":}`,
	`{"xp":{"increment":5,"decrement":5}}`, `{"xp":{}}`, `{"xp":{"increment":5},}`, `{"xp":5}x`, `{"xp":5,"xp":5}`, `{"XP":5}`,
	`{"xp":5,"triggerCooldown":null}`, `{"xp":5,"triggerCooldown":tru}`, `{"xp":5,"triggerCooldown":truefalse}`, `{"xp":5 5}`, `{}`, ``, `5`,
	`{"x\u0070":5}`, `{"xp":{"increment":99999999999999999999999999999}}`, `{"xp":5,"other":1}`, "{\"xp\":5,\"\xff\":1}", `{"xp":null}`, `{"xp":"5"}`,
}

func sameUpdate(t *testing.T, body []byte) {
	fast, ok := scanUpdate(body)
	if !ok {
		return
	}
	slow, err := decodeUpdate(body)
	if err != nil || fast != slow {
		t.Errorf("%q is read as %+v, want %+v, %v", body, fast, slow, err)
	}
}

func TestScanUpdateReadsWhatTheDecoderReads(t *testing.T) {
	for _, body := range updates {
		sameUpdate(t, []byte(body))
	}
	for _, body := range updates[:6] {
		if _, ok := scanUpdate([]byte(body)); !ok {
			t.Errorf("%s is left to the decoder", body)
		}
	}
}

func FuzzScanUpdate(f *testing.F) {
	for _, body := range updates {
		f.Add([]byte(body))
	}
	f.Fuzz(sameUpdate)
}
