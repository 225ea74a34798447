package web

import (
	"fmt"
	"net/url"
	"strings"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/usecase/audit"
)

// reasonField is where a form asks why a change is made, for the template reason. typed and wrong are by the ids of a page's fields.
func reasonField(id string, typed, wrong map[string]string) field {
	return field{Name: "reason", ID: id, Value: typed[id], Wrong: wrong[id], Hint: "Optional. It is kept in the audit log."}
}

// reasonOf reads why a change is made, and says what is wrong with that: the reason is then cut to what can be shown again.
func reasonOf(sent url.Values) (reason, wrong string) {
	reason = strings.TrimSpace(sent.Get("reason"))
	if audit.ValidReason(reason) {
		return reason, ""
	}
	return displayname.Cut(strings.ToValidUTF8(reason, "?"), audit.MaxReason), fmt.Sprintf("A reason has at most %d characters.", audit.MaxReason)
}
