package config

import (
	"fmt"

	"levelboard/internal/platform/storeurl"
)

// RedisURLNow is RedisURL or, where that stands in a file, what the file holds now, whose user and password may be others than at the
// start. All else must be as it was: a file that is half written, or names another server, is an error.
func (c Config) RedisURLNow() (string, error) { return c.urlNow("REDIS_URL", c.RedisURL) }

// PostgresURLNow is the same of PostgresURL.
func (c Config) PostgresURLNow() (string, error) { return c.urlNow("POSTGRES_URL", c.PostgresURL) }

// RedisSentinelPasswordNow is RedisSentinelPassword or, where that stands in a file, what the file holds now.
func (c Config) RedisSentinelPasswordNow() (string, error) {
	return c.secretNow("REDIS_SENTINEL_PASSWORD", c.RedisSentinelPassword)
}

func (c Config) urlNow(name, atStart string) (string, error) {
	now, err := c.secretNow(name, atStart)
	if err != nil || now == atStart {
		return now, err
	}
	if !storeurl.SamePlace(now, atStart) {
		return "", fmt.Errorf("%s differs in more than the user and the password from what it was at the start", Prefix+name+fileSuffix)
	}
	return now, nil
}

func (c Config) secretNow(name, atStart string) (string, error) {
	path := c.secretFiles[Prefix+name]
	if path == "" {
		return atStart, nil
	}
	return secretIn(path, Prefix+name)
}
