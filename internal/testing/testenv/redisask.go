package testenv

import (
	"context"
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// go-redis logs each refused connection, which is expected of a server that a test starts or kills.
func init() { logging.Disable() }

// askTimeout is long, because a busy machine is no failure.
const askTimeout = 10 * time.Second

// answers reports whether the server is ready and is the process that was
// started, because another test's server may have taken the port.
func (s *RedisServer) answers(pid int) error {
	// PING fails while an append-only file is loading.
	if _, err := s.ask(time.Second, "PING"); err != nil {
		return err
	}
	info, err := s.ask(time.Second, "INFO", "server")
	if err == nil && !strings.Contains(info, "process_id:"+strconv.Itoa(pid)+"\r\n") {
		err = fmt.Errorf("another server answers at %s", s.Addr())
	}
	return err
}

// Ask sends one command to the server. The answer must be a simple or a bulk
// string, a number, or a list of them, which becomes a line for each element.
func (s *RedisServer) Ask(args ...string) (string, error) { return s.ask(askTimeout, args...) }

func (s *RedisServer) ask(limit time.Duration, args ...string) (string, error) {
	answers, err := s.askAll(limit, args)
	return strings.Join(answers, ""), err
}

// askAll sends commands over one connection.
func (s *RedisServer) askAll(limit time.Duration, commands ...[]string) ([]string, error) {
	var secure *tls.Config
	if s.tls != nil {
		var err error
		if secure, err = s.tls.client(); err != nil {
			return nil, err
		}
	}
	client := redis.NewClient(&redis.Options{
		Addr: s.Addr(), Password: s.password, TLSConfig: secure, Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: time.Second, ReadTimeout: limit, WriteTimeout: limit,
	})
	defer client.Close()
	pipe := client.Pipeline()
	for _, args := range commands {
		words := make([]any, len(args))
		for i, arg := range args {
			words[i] = arg
		}
		pipe.Do(context.Background(), words...)
	}
	sent, _ := pipe.Exec(context.Background())
	answers := make([]string, len(commands))
	for i, one := range sent {
		answer, err := one.(*redis.Cmd).Result()
		if err == nil {
			answers[i], err = lines(answer)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(commands[i], " "), err)
		}
	}
	return answers, nil
}

// lines fails for a null, which no caller expects.
func lines(answer any) (string, error) {
	switch answer := answer.(type) {
	case nil:
		return "", redis.Nil
	case []any:
		var elements []string
		for _, element := range answer {
			text, err := lines(element)
			if err != nil {
				return "", err
			}
			elements = append(elements, text)
		}
		return strings.Join(elements, "\n"), nil
	}
	return fmt.Sprint(answer), nil
}
