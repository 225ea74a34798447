package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"levelboard/internal/config"
)

// adminTokenIn reads the token, or makes one at the first start. Only the user who runs the service can read the file.
func adminTokenIn(dataDir string) (string, error) {
	path := filepath.Join(dataDir, config.AdminTokenFile)
	kept, err := os.ReadFile(path)
	if err == nil {
		if token := strings.TrimSpace(string(kept)); len(token) >= 32 {
			return token, nil
		}
		return "", fmt.Errorf("%s holds fewer than 32 characters; delete it to have a new token made", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the admin token: %w", err)
	}
	token := rand.Text() + rand.Text()
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the admin token: %w", err)
	}
	return token, nil
}
