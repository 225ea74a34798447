package packages

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// redis sends commands to the server at a socket, which may still be starting, and returns the last answer, or the last element of a
// list.
func redis(t *testing.T, socket string, commands ...string) string {
	t.Helper()
	conn := dial(t, socket)
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	answer := ""
	for _, command := range commands {
		if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
			t.Fatal(err)
		}
		answer = line(t, answers)
		if count, isList := strings.CutPrefix(answer, "*"); isList {
			n, _ := strconv.Atoi(count)
			for range 2 * n { // each element has a line for its length
				answer = line(t, answers)
			}
		}
	}
	return answer
}

func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server does not listen: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func line(t *testing.T, answers *bufio.Reader) string {
	t.Helper()
	text, err := answers.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(text, "\r\n")
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
