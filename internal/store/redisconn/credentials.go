package redisconn

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/storeurl"
)

// credentials are what each new connection of a client signs in with.
type credentials struct{ user, password string }

// rotating gives new connections what now returns. While now fails, the file behind it is just being replaced: then what it returned
// before counts, at first what opts say.
func rotating(opts *redis.Options, now func() (credentials, error)) {
	var last atomic.Pointer[credentials]
	last.Store(&credentials{opts.Username, opts.Password})
	opts.CredentialsProviderContext = func(context.Context) (user, password string, err error) {
		if read, err := now(); err == nil {
			last.Store(&read)
		}
		c := last.Load()
		return c.user, c.password, nil
	}
}

// signIn are the user and the password of a URL. Its errors quote nothing.
func signIn(rawURL string) (credentials, error) {
	parts, _ := storeurl.Split(rawURL)
	opts, err := redis.ParseURL(parts.First())
	if err != nil {
		return credentials{}, fmt.Errorf("user and password: %w", errURL)
	}
	return credentials{opts.Username, opts.Password}, nil
}
