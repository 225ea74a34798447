package testenv

import (
	"strings"
	"testing"
)

func TestRedisRefusesWrites(t *testing.T) {
	s := Redis(t)
	redisDo(t, s, "SET", "key", "value")
	for _, r := range Refusals {
		end := s.Refuse(r)
		if _, err := s.Ask("SET", "key", "another"); err == nil || !strings.Contains(err.Error(), ": "+r.Word+" ") {
			t.Errorf("when %s, a write is answered with %v", r.Name, err)
		}
		if got, err := s.Ask("GET", "key"); err != nil || got != "value" {
			t.Errorf("when %s, a read is answered with %q, %v", r.Name, got, err)
		}
		end()
		redisDo(t, s, "SET", "key", "value")
	}
}
