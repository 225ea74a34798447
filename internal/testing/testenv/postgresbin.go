package testenv

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// postgresBin finds the directory with initdb and postgres. Debian keeps them out
// of PATH, and a symbolic link in PATH may lack the others beside it.
func postgresBin() (string, error) {
	var candidates []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			candidates = append(candidates, filepath.Dir(real))
		}
		candidates = append(candidates, filepath.Dir(path))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/pgsql-*/bin",                  // PostgreSQL's own RPMs
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/latest/bin",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		candidates = append(candidates, found...)
	}
	for _, dir := range candidates {
		if complete(dir) {
			return dir, nil
		}
	}
	return "", errors.New("initdb and postgres were found neither in PATH nor where packages put them: " +
		"run `make setup`, or install PostgreSQL 15 or newer (Debian: package postgresql)")
}

func complete(dir string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err != nil {
			return false
		}
	}
	return true
}

// postgresDir makes a directory for a server and returns the account to run it
// as. postgres refuses to run as root, so root runs it as another user, in a
// directory which that user can reach.
func postgresDir() (string, *account, error) {
	if os.Geteuid() != 0 {
		dir, err := os.MkdirTemp("", "levelboard-postgres-")
		return dir, nil, err
	}
	account, err := unprivileged()
	if err != nil {
		return "", nil, err
	}
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if !open(parent) {
			continue
		}
		dir, err := os.MkdirTemp(parent, "levelboard-postgres-")
		if err != nil {
			continue
		}
		return dir, account, account.own(dir)
	}
	return "", nil, errors.New("no temporary directory that a user other than root can reach")
}

func unprivileged() (*account, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return &account{uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("postgres does not run as root, and there is no user postgres or nobody to run it as")
}

// open reports whether everyone may pass through dir and all directories above it.
func open(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		above := filepath.Dir(dir)
		if above == dir {
			return true
		}
		dir = above
	}
}

// own gives a path to the account. A nil account changes nothing.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}
