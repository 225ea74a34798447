package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"levelboard/internal/platform/secretfile"
)

// AdminTokenFile is the name of the file in the data directory that holds the admin token of an embedded service.
const AdminTokenFile = "admin-token"

// Client has the settings of the commands that are clients of a running service. It does not check the other settings.
type Client struct {
	URL       string // without slashes at its end
	OpsListen string // not checked

	adminToken string
	tokenFrom  string // the name of the setting that adminToken comes from
	dataDir    string
}

// ErrNoAdminToken says that no admin token was given and that the data directory holds none.
var ErrNoAdminToken = errors.New("no admin token: give it with --admin-token, LEVELBOARD_ADMIN_TOKEN or LEVELBOARD_ADMIN_TOKEN_FILE, or run this " +
	"where the embedded service's data directory is (LEVELBOARD_DATA_DIR)")

// LoadClient reads a client's settings from environ. Its errors are sentences without secrets.
func LoadClient(environ []string) (Client, error) {
	vars := toMap(environ)
	c := Client{
		URL:       cmp.Or(vars[clientURL.Name], clientURL.Default),
		OpsListen: cmp.Or(vars[nameOf("OpsListen")], defaultOf("OpsListen")),
		dataDir:   cmp.Or(vars[nameOf("DataDir")], defaultOf("DataDir")),
	}
	token := nameOf("AdminToken")
	c.tokenFrom = token
	if vars[token+secretfile.Suffix] != "" {
		c.tokenFrom += secretfile.Suffix
	}
	err := secretfile.Resolve(vars, token)
	c.adminToken = vars[token]

	v := validator{}
	c.URL = v.webURL("URL", c.URL)
	return c, errors.Join(append(v.problems, err)...)
}

// AdminToken returns the admin token of the environment, else that of the data directory,
// else ErrNoAdminToken. from is its source: the name of a setting, or the path of a file.
func (c Client) AdminToken() (token, from string, err error) {
	if c.adminToken != "" {
		return c.adminToken, c.tokenFrom, nil
	}
	path := filepath.Join(c.dataDir, AdminTokenFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", ErrNoAdminToken
	}
	if err != nil {
		return "", "", fmt.Errorf("the admin token cannot be read: %w", err)
	}
	if token := strings.TrimSpace(string(content)); token != "" {
		return token, path, nil
	}
	return "", "", fmt.Errorf("the admin token's file %s is empty", path)
}

func defaultOf(field string) string {
	name := nameOf(field)
	for _, s := range Describe() {
		if s.Name == name {
			return s.Default
		}
	}
	return ""
}
