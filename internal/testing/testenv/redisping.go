package testenv

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// askTimeout is long: a busy machine is no failure.
const askTimeout = 10 * time.Second

// answers reports whether the server is ready, and is the process that was
// started: a port may have been taken by another test's server.
func (s *RedisServer) answers(pid int) error {
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	replies := bufio.NewReader(conn)
	if s.password != "" {
		if _, err := ask(conn, replies, "AUTH", s.password); err != nil {
			return err
		}
	}
	// PING fails while an append-only file is still being loaded.
	if _, err := ask(conn, replies, "PING"); err != nil {
		return err
	}
	info, err := ask(conn, replies, "INFO", "server")
	if err != nil {
		return err
	}
	if !strings.Contains(info, "process_id:"+strconv.Itoa(pid)+"\r\n") {
		return fmt.Errorf("another server answers at %s", s.Addr())
	}
	return nil
}

// Ask sends one command to the server, whose answer is a simple or a bulk
// string, a number, or a list of them: a line for each element.
func (s *RedisServer) Ask(args ...string) (string, error) {
	conn, err := s.dial()
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(askTimeout)); err != nil {
		return "", err
	}
	replies := bufio.NewReader(conn)
	if s.password != "" {
		if _, err := ask(conn, replies, "AUTH", s.password); err != nil {
			return "", err
		}
	}
	return ask(conn, replies, args...)
}

func (s *RedisServer) dial() (net.Conn, error) {
	dialer := &net.Dialer{Timeout: time.Second}
	if s.tls == nil {
		return dialer.Dial("tcp", s.Addr())
	}
	config, err := s.tls.client()
	if err != nil {
		return nil, err
	}
	return tls.DialWithDialer(dialer, "tcp", s.Addr(), config)
}

// ask sends one command and reads its reply.
func ask(conn net.Conn, replies *bufio.Reader, args ...string) (string, error) {
	request := fmt.Sprintf("*%d\r\n", len(args))
	for _, arg := range args {
		request += fmt.Sprintf("$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return "", err
	}
	text, err := readReply(replies)
	if err != nil {
		return "", fmt.Errorf("%s: %w", args[0], err)
	}
	return text, nil
}

func readReply(replies *bufio.Reader) (string, error) {
	line, err := replies.ReadString('\n')
	if err != nil {
		return "", err
	}
	switch rest := strings.TrimSpace(line[1:]); line[0] {
	case '+', ':':
		return rest, nil
	case '*':
		size, err := strconv.Atoi(rest)
		elements := make([]string, 0, max(size, 0))
		for len(elements) < size && err == nil {
			var element string
			element, err = readReply(replies)
			elements = append(elements, element)
		}
		return strings.Join(elements, "\n"), err
	case '$':
		size, err := strconv.Atoi(rest)
		if err != nil || size < 0 {
			return "", fmt.Errorf("unexpected reply %q", line)
		}
		body := make([]byte, size+len("\r\n"))
		_, err = io.ReadFull(replies, body)
		return string(body[:size]), err
	default:
		return "", fmt.Errorf("unexpected reply %q", line)
	}
}
