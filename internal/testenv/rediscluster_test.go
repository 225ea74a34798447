package testenv_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/testenv"
)

func TestCluster(t *testing.T) {
	c := testenv.Cluster(t, testenv.WithPassword("p@ss"))
	for i, s := range append(c.Masters, c.Replicas...) {
		nodes, err := s.Ask("CLUSTER", "NODES")
		if err != nil || strings.Count(nodes, "\n") != 6 || !strings.Contains(nodes, c.ID(s)) {
			t.Errorf("node %d knows of %s, %v", i, nodes, err)
		}
		if !strings.Contains(c.URL(), s.Addr()) {
			t.Errorf("%s does not name %s", c.URL(), s.Addr())
		}
	}
	c.Masters[1].Kill()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		role, err := c.Replicas[1].Ask("INFO", "replication")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(role, "role:master") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the replica did not take over: %s", role)
		}
	}
}
