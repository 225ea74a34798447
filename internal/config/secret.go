package config

import (
	"fmt"
	"strings"

	"levelboard/internal/platform/secretfile"
	"levelboard/internal/platform/storeurl"
)

// resolveFiles puts secrets from files into vars, as if they had been given directly, and returns
// the paths of these files by setting. It adds each setting whose file cannot be read to failed.
func resolveFiles(vars map[string]string, failed map[string]bool) (paths map[string]string, problems []error) {
	for _, s := range Describe() {
		if !s.Secret {
			continue
		}
		if err := secretfile.Resolve(vars, s.Name); err != nil {
			problems = append(problems, err)
			failed[s.Name] = true
		} else if path := vars[s.Name+secretfile.Suffix]; path != "" {
			if paths == nil {
				paths = map[string]string{}
			}
			paths[s.Name] = path
		}
	}
	return paths, problems
}

const redacted = "[redacted]"

// RedactURL hides the secrets that a connection URL may hold: the text from the user's name to the last @, and query
// parameters that sound like passwords. It works on the text, so a URL that does not parse leaks nothing either.
func RedactURL(raw string) string {
	if raw == "" {
		return ""
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return redacted
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		// Text without a colon may be a password in the wrong place.
		user, _, hasPassword := strings.Cut(rest[:at], ":")
		if hasPassword {
			user += ":"
		} else {
			user = ""
		}
		rest = user + redacted + rest[at:]
	}
	if base, query, ok := strings.Cut(rest, "?"); ok {
		params := strings.Split(query, "&")
		for i, param := range params {
			name, _, _ := strings.Cut(param, "=")
			if lower := strings.ToLower(name); strings.Contains(lower, "pass") || strings.Contains(lower, "secret") || strings.Contains(lower, "%") {
				params[i] = name + "=" + redacted
			}
		}
		rest = base + "?" + strings.Join(params, "&")
	}
	return scheme + "://" + rest
}

// RedisURLNow returns RedisURL or, if that came from a file, the file's current content. Its user and password may
// have changed since the start. Any other difference, from a half-written file or another server, is an error.
func (c Config) RedisURLNow() (string, error) { return c.urlNow("REDIS_URL", c.RedisURL) }

// PostgresURLNow does the same for PostgresURL.
func (c Config) PostgresURLNow() (string, error) { return c.urlNow("POSTGRES_URL", c.PostgresURL) }

func (c Config) urlNow(name, atStart string) (string, error) {
	path := c.secretFiles[Prefix+name]
	if path == "" {
		return atStart, nil
	}
	now, err := secretfile.Read(path, Prefix+name)
	if err == nil && now != atStart && !storeurl.SamePlace(now, atStart) {
		return "", fmt.Errorf("%s differs in more than the user and the password from what it was at the start", Prefix+name+secretfile.Suffix)
	}
	return now, err
}
