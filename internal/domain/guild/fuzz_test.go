package guild_test

import (
	"encoding/json"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

// onlyInvalid fails the test unless err is the client's fault.
func onlyInvalid(t *testing.T, in string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("%q: %v is not the client's fault", in, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		full, with(""), multiplier(`"targets":[` + channel + `]`), reward(`"roles":[` + role + `]`), with(`"vanity":"Gophers"`), with(`"curve":"amari"`), with(`"curve":[0,75.83333333333333,22.5,1.6666666666666667]`), with(`"curve":[1e308,1]`),
		with(`"roleRewards":[{"level":9,"roles":[]},{"level":3,"stack":false,"roles":[]}]`),
		with(`"timeZone":"Asia/Beirut","periods":["week","day"]`), with(`"timeZone":"Local"`), season(`"start":"2026-12-01","end":"2026-12-02"`),
		season(`"start":"2026-12-01","end":"9999-12-31"`), `{}`, `null`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		s, err := guild.Parse(gid, document)
		if err != nil {
			if !fault.Is(err, fault.TooLarge) {
				onlyInvalid(t, string(document), err)
			}
			return
		}
		if !json.Valid(document) || s.ID != gid || s.MemberCount < 1 || s.XPPerMessageMin > s.XPPerMessageMax || s.XPGainInterval < 10000 {
			t.Fatalf("%s is accepted as %+v, which is invalid", document, s)
		}
		roundTrip(t, s)
	})
}
