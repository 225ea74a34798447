package postgres_test

import (
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"levelboard/internal/testing/testenv"
)

// The service's role in Compose is no superuser, and has all rights that the service needs.
func TestTheServiceNeedsNoSuperuser(t *testing.T) {
	u, err := url.Parse(testenv.PostgresServer(t).URL())
	must(t, err)
	// In the image the superuser is postgres. Here it has the name of the service's role, so make another one.
	exec(t, u.String(), `CREATE ROLE postgres SUPERUSER LOGIN PASSWORD 'superuser'`)
	u.User = url.UserPassword("postgres", "superuser")
	superuser := u.String()
	exec(t, superuser, `ALTER ROLE levelboard RENAME TO former`)

	secrets := t.TempDir()
	must(t, os.WriteFile(filepath.Join(secrets, "service-password"), []byte("it's secret"), 0o600))
	script := osexec.CommandContext(t.Context(), "../../../deploy/compose/postgres-role.sh")
	script.Env = append(os.Environ(), "SECRETS="+secrets, "POSTGRES_USER=postgres", "PGPASSWORD=superuser", "PGHOST="+u.Hostname(), "PGPORT="+u.Port())
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("running the script: %v: %s", err, out)
	}
	waitFor(t, superuser, `SELECT NOT (rolsuper OR rolcreatedb OR rolcreaterole) FROM pg_roles WHERE rolname = 'levelboard'`)
	u.User, u.Path = url.UserPassword("levelboard", "it's secret"), "/levelboard"
	a := open(t, u.String())
	must(t, a.Migrate(t.Context()))
	if _, err := a.Keys(t.Context(), "", 10); err != nil {
		t.Error(err)
	}
}
