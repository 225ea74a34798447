package audit_test

import (
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

func TestRenameChangesWholeIdsOnly(t *testing.T) {
	name := func(in id.User) string {
		if in == "12345678901234567" {
			return "erased-1"
		}
		return string(in)
	}
	for text, want := range map[string]string{
		"by <@12345678901234567>, x12345678901234567": "by <@erased-1>, xerased-1",
		"123456789012345678 112345678901234567":       "123456789012345678 112345678901234567",
		"":                                            "",
	} {
		if got := audit.Rename(text, name); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	value := `{"a":["12345678901234567"],"n":0.12345678901234567,"t":"\"<@12345678901234567>"}`
	if got := audit.RenameValue(value, name); got != `{"a":["erased-1"],"n":0.12345678901234567,"t":"\"<@erased-1>"}` {
		t.Errorf("%s became %s", value, got)
	}
}
