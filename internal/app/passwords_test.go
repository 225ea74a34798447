package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/testing/testenv"
)

const (
	firstPassword  = "the-f1rst/Password"
	secondPassword = "the-s3cond/Password"
)

// secretFile writes a secret into a file, replacing its content.
func secretFile(t *testing.T, path, secret string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// askAll sends a command to each of the servers.
func askAll(t *testing.T, servers []*testenv.RedisServer, args ...string) {
	t.Helper()
	for _, s := range servers {
		if _, err := s.Ask(args...); err != nil {
			t.Fatal(err)
		}
	}
}

// rotated is a set of Redis servers whose user's password changes.
type rotated struct {
	servers []*testenv.RedisServer
	url     func(password string) string // for the user levelboard
	environ []string
}

// asOwner returns a function that runs statements in the database at url as its user.
func asOwner(t *testing.T, url string) (sql func(statement string)) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close(context.WithoutCancel(t.Context())) })
	return func(statement string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// Files with URLs are replaced by others with new passwords and users while the service runs, and it uses them without a restart. A file
// that is half written, or that names another server, is ignored.
func TestPasswordsThatAreReplaced(t *testing.T) {
	t.Parallel()
	archive := testenv.PostgresServer(t)
	sql := asOwner(t, archive.URL())
	modes := map[string]func(t *testing.T) rotated{
		"single": func(t *testing.T) rotated {
			server := testenv.Redis(t, testenv.WithPassword(serversPassword))
			return rotated{servers: []*testenv.RedisServer{server}, url: func(password string) string {
				return server.URLFor("levelboard", password)
			}}
		},
		"cluster": func(t *testing.T) rotated {
			c := testenv.Cluster(t, testenv.WithPassword(serversPassword))
			return rotated{servers: append(c.Masters, c.Replicas...), url: func(password string) string {
				return c.URLFor("levelboard", password)
			}, environ: []string{"LEVELBOARD_REDIS_MODE=cluster"}}
		},
		"sentinel": func(t *testing.T) rotated {
			s := testenv.NewSentinels(t, sentinelPassword, testenv.WithPassword(serversPassword))
			return rotated{servers: s.Servers, url: func(password string) string {
				_, hosts, _ := strings.Cut(s.URL(), "@")
				return "redis://" + url.UserPassword("levelboard", password).String() + "@" + hosts
			}, environ: []string{
				"LEVELBOARD_REDIS_MODE=sentinel", "LEVELBOARD_REDIS_MASTER=" + testenv.MasterName,
				"LEVELBOARD_REDIS_SENTINEL_PASSWORD=" + sentinelPassword, // valid at the start
			}}
		},
	}
	for mode, servers := range modes {
		t.Run(mode, func(t *testing.T) {
			role := "rotated_" + mode
			sql("CREATE ROLE " + role + " LOGIN PASSWORD '" + firstPassword + "'")
			sql("CREATE DATABASE " + role + " OWNER " + role)
			u := mustParse(t, archive.URL())
			archiveURL := func(user, password string) string {
				u.User, u.Path = url.UserPassword(user, password), "/"+role
				return u.String()
			}
			r := servers(t)
			askAll(t, r.servers, "ACL", "SETUSER", "levelboard", "on", ">"+firstPassword, "~*", "&*", "+@all")
			redisFile, archiveFile := filepath.Join(t.TempDir(), "redis"), filepath.Join(t.TempDir(), "postgres")
			secretFile(t, redisFile, r.url(firstPassword))
			secretFile(t, archiveFile, archiveURL(role, firstPassword))
			log := &testenv.Log{}
			s := run(t, newLogging(t, slog.NewTextHandler(log, nil),
				append(r.environ, often, "LEVELBOARD_REDIS_URL_FILE="+redisFile, "LEVELBOARD_POSTGRES_URL_FILE="+archiveFile)...))
			g, member := s.guild(nil), newID()
			key := s.key(g)
			s.create(key, g, member, 1)

			disconnect := func() {
				t.Helper()
				askAll(t, r.servers, "CLIENT", "KILL", "USER", "levelboard")
				sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + role + "'")
			}
			goesOn := func(when string) {
				t.Helper()
				disconnect()
				testenv.Wait(t, "both stores are reached "+when, func() bool {
					got := s.ops("/readyz?verbose")
					return got.Status == 200 && bytes.Count(got.Body, []byte(`"state":"ok"`)) == 2
				})
				s.patch(key, g, member, object{"increment": 1})
			}
			secretFile(t, redisFile, "redis://levelboard:the-s3")
			secretFile(t, archiveFile, "postgres://127.0.0.1:1/elsewhere")
			goesOn("while the files are no good")

			askAll(t, r.servers, "ACL", "SETUSER", "levelboard", ">"+secondPassword, "<"+firstPassword)
			sql("CREATE ROLE next_" + role + " LOGIN PASSWORD '" + secondPassword + "' IN ROLE " + role)
			sql("ALTER ROLE next_" + role + " SET role = " + role)
			sql("ALTER ROLE " + role + " NOLOGIN")
			disconnect()
			testenv.Wait(t, "it says why no store can be reached", func() bool {
				s.ops("/readyz?verbose")
				return log.Has("LEVELBOARD_REDIS_URL_FILE differs in more than the user and the password") &&
					log.Has("LEVELBOARD_POSTGRES_URL_FILE differs in more than the user and the password")
			})
			secretFile(t, redisFile, r.url(secondPassword))
			secretFile(t, archiveFile, archiveURL("next_"+role, secondPassword))
			goesOn("with the new passwords")
			testenv.Wait(t, "messages of other replicas are heard again", func() bool {
				for _, server := range r.servers {
					if heard, err := server.Ask("CLIENT", "LIST", "TYPE", "PUBSUB"); err == nil && strings.Contains(heard, "user=levelboard ") {
						return true
					}
				}
				return false
			})
			if xp := s.member(key, g, member).Level.XP; xp != 3 {
				t.Errorf("after all changes the member has %d XP, want 3", xp)
			}
			if log.Has("f1rst") || log.Has("s3cond") {
				t.Error("the log contains a password")
			}
		})
	}
}
