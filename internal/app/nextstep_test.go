package app_test

import (
	"bytes"
	"testing"

	"levelboard/internal/testing/apitest"
)

// Each error message says what to do next.
func TestRefusalsSayTheNextStep(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	g, other, off := s.guild(nil), s.guild(nil), s.guild(object{"enabled": false})
	key, user := s.key(g, off), newID()
	says := func(got apitest.Response, status int, sentence string) {
		t.Helper()
		wantFailure(t, got, status)
		if !bytes.Contains(got.Body, []byte(sentence)) {
			t.Errorf("the message %s lacks the next step %q", got.Body, sentence)
		}
	}
	says(s.Do("GET", memberPath(other, user), key, nil), 403, "Have the guild granted to the key: by its owner at /profile, or by the operator with levelboard key grant.")
	says(s.Do("GET", memberPath(g, user), key, nil), 404, "Create it with POST, or send the user's messages to /v2/guilds/{guildId}/messages.")
	for _, path := range []string{"/v2/guilds/" + off + "/events", boardPath(off, 1)} {
		says(s.Do("GET", path, key, nil), 404, "Leveling is not enabled in this guild. Its owner can enable it.")
	}
	says(s.admin("DELETE", "/keys/000000000000", nil), 404, "'levelboard key list' lists those that there are.")
	says(s.bad("GET", "/v2/levels/"+g, "", nil), 400, "The query parameter page is required and must be a whole number from 1.")
	says(s.bad("GET", "/v2/levels/"+g+"?page=0", "", nil), 400, "The query parameter page must be a whole number from 1.")
	for _, path := range []string{"/guilds?limit=0", "/keys?limit=1001", "/keys?limit="} {
		says(s.admin("GET", path, nil, apitest.Bad()), 400, "The query parameter limit must be a whole number from 1 to 1000.")
	}
}
