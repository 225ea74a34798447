package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"levelboard/internal/platform/pause"
	"levelboard/internal/store/sqlarchive"
)

// fileMode keeps other users of the machine away from the keys' hashes and the members' names. SQLite gives the
// write-ahead log beside the file the same mode.
const fileMode = 0o600

// Open opens the archive in the file at path and makes an empty one if there is none. Its directory must exist.
func Open(ctx context.Context, path string) (*Archive, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, wrap("open", err)
	}
	if err := private(full); err != nil {
		return nil, wrap("open", err)
	}
	a := &Archive{path: full, Catalog: sqlarchive.Catalog{Dialect: dialect}}
	if a.Writer, err = connect(ctx, full, 1, writerPragmas, "immediate"); err != nil {
		return nil, wrap("open "+full, err)
	}
	if a.Reader, err = connect(ctx, full, readers, readerPragmas, "deferred"); err != nil {
		return nil, wrap("open "+full, errors.Join(err, a.Writer.Close()))
	}
	return a, nil
}

const readers = 4

// The mode of the log is set by the first connection and stays with the file. A commit is on the disk before it is
// acknowledged (synchronous). Deleted data is overwritten (secure_delete).
var (
	writerPragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "temp_store(MEMORY)", "foreign_keys(1)", "secure_delete(1)"}
	readerPragmas = []string{"busy_timeout(10000)", "query_only(1)"}
)

func private(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(fileMode), f.Close())
}

func connect(ctx context.Context, path string, conns int, pragmas []string, lock string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", fileURI(path)+"?"+url.Values{"_pragma": pragmas, "_txlock": {lock}}.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	// SQLite does not wait (busy_timeout) for others who are giving a new file its log at the same moment.
	for waited := time.Duration(0); ; waited += busyRetry {
		err := db.PingContext(ctx)
		if err == nil {
			return db, nil
		}
		if !busy(err) || waited >= busyTime || !pause.For(ctx, busyRetry) {
			return nil, errors.Join(err, db.Close())
		}
	}
}

// busyRetry is how often a file that somebody else is making is opened, for busyTime at most.
const busyRetry, busyTime = 10 * time.Millisecond, 10 * time.Second

func busy(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// fileURI escapes what would end the path in a URI: ?, # and %.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return fmt.Sprintf("file://%s", (&url.URL{Path: path}).EscapedPath())
}
