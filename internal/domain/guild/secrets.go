package guild

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
)

// revealed writes secrets unmasked, for the archives.
var revealed = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, s announcement.Secret) error {
	if s == "" {
		return e.WriteToken(jsontext.Null)
	}
	return e.WriteToken(jsontext.String(s.Reveal()))
}))

// MarshalSecrets is Marshal with unmasked secrets, for the archives.
func MarshalSecrets(s Settings) ([]byte, error) { return json.Marshal(s, revealed) }

// Announcement returns the announcement with that id, or nil. s may be nil.
func (s *Settings) Announcement(id string) *announcement.Announcement {
	if s == nil {
		return nil
	}
	for i := range s.Announcements {
		if s.Announcements[i].ID == id {
			return &s.Announcements[i]
		}
	}
	return nil
}

// sameSecrets reports whether announcements that are otherwise equal have the same URLs.
func sameSecrets(a, b Settings) bool {
	return slices.EqualFunc(a.Announcements, b.Announcements, func(a, b announcement.Announcement) bool { return a.URL == b.URL })
}

// KeepSecrets replaces each URL in s that is masked or absent by the saved one. If none is saved, it returns a fault. saved may be nil.
func (s *Settings) KeepSecrets(saved *Settings) error {
	s.Announcements = slices.Clone(s.Announcements)
	for i := range s.Announcements {
		a := &s.Announcements[i]
		if a.Kind == announcement.Bot || a.URL != "" && !a.URL.IsShown() {
			continue
		}
		var kept announcement.Secret
		if old := saved.Announcement(a.ID); old != nil {
			kept = old.URL
		}
		path := fmt.Sprintf("announcements[%d].url", i)
		switch {
		case kept == "":
			return fault.At(path, "must be a webhook's address: none is stored for this announcement")
		case a.URL != "" && a.URL != announcement.Secret(kept.Shown()):
			return fault.At(path, "must be a whole address, or %s to keep the stored one", kept.Shown())
		}
		a.URL = kept
	}
	return nil
}

// CheckHosts returns a fault for an address that begins with http:// and whose host is not allowed. If allowed is nil, no host is.
func (s *Settings) CheckHosts(allowed func(host string) bool) error {
	if allowed == nil {
		allowed = func(string) bool { return false }
	}
	for i, a := range s.Announcements {
		if a.URL == "" || a.URL.IsShown() {
			continue
		}
		if rule := a.URL.Check(allowed); rule != "" {
			return fault.At(fmt.Sprintf("announcements[%d].url", i), "%s", rule)
		}
	}
	return nil
}
