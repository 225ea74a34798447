package testenv

import (
	"strings"
	"testing"
)

func TestCluster(t *testing.T) {
	c := Cluster(t, WithPassword("p@ss"))
	for i, s := range append(c.Masters, c.Replicas...) {
		nodes, err := s.Ask("CLUSTER", "NODES")
		if err != nil || strings.Count(nodes, "\n") != 6 || !strings.Contains(nodes, c.id(s)) {
			t.Errorf("node %d knows of %s, %v", i, nodes, err)
		}
		if !strings.Contains(c.URL(), s.Addr()) {
			t.Errorf("%s does not name %s", c.URL(), s.Addr())
		}
	}

	slot := c.SlotOf("{a}1")
	from := c.Owner(slot)
	to := c.Another(from)
	for _, key := range []string{"{a}1", "{a}2"} {
		if _, err := from.Ask("SET", key, "of "+key); err != nil {
			t.Fatal(err)
		}
	}
	c.Move(slot, from, to)
	if value, err := to.Ask("GET", "{a}2"); err != nil || value != "of {a}2" {
		t.Errorf("the key on its new node: %q, %v", value, err)
	}
	if owner := c.Owner(slot); owner != to {
		t.Errorf("slot %d is on %s, want %s", slot, owner.Addr(), to.Addr())
	}

	slot = c.SlotOf("b")
	owner := c.Owner(slot)
	owner.Kill()
	if next := c.Owner(slot); next == owner {
		t.Error("a node that was killed serves")
	}
}
