package redisconn

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/storeurl"
)

// rotating gives new connections the user and the password of the URL that now returns. While now fails, the file behind it is just being replaced:
// then what it returned before counts, at first what opts say.
func rotating(opts *redis.Options, now func() (string, error)) {
	var last atomic.Pointer[redis.Options]
	last.Store(&redis.Options{Username: opts.Username, Password: opts.Password})
	opts.CredentialsProviderContext = func(context.Context) (user, password string, err error) {
		if rawURL, err := now(); err == nil {
			u, _ := storeurl.Split(rawURL)
			if read, err := redis.ParseURL(u.First()); err == nil {
				last.Store(read)
			}
		}
		return last.Load().Username, last.Load().Password, nil
	}
}
