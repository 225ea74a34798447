//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import "testing"

func TestSentinelsPromoteAReplica(t *testing.T) {
	ca := NewCA(t)
	s := NewSentinels(t, "watchers", WithPassword("servers"), WithTLS(ca, ca.Loopback()))
	first := s.Master()
	if first != s.Servers[0] {
		t.Error("the first server is not the master")
	}
	if _, err := first.Ask("SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	s.InStep()
	first.Kill()
	second := s.Promoted(first)
	if got, err := second.Ask("GET", "k"); err != nil || got != "v" {
		t.Errorf("the replica that took over has %q, %v", got, err)
	}
}
