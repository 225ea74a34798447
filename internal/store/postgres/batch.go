package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// WriteBatches implements snapshot.Archive. All rows are written in one statement.
func (a *Archive) WriteBatches(ctx context.Context, l lease.Lease, batches []snapshot.Batch) (errs []error, err error) {
	errs = make([]error, len(batches))
	for i := range batches {
		errs[i] = batches[i].Check()
	}
	err = a.inTx(ctx, "write_batch", func(ctx context.Context, tx pgx.Tx) error {
		fitting, err := raiseArchived(ctx, tx, batches, errs)
		if err != nil {
			return err
		}
		if err := checkLease(ctx, tx, l); err != nil {
			return err
		}
		var fit []snapshot.Batch
		for i, b := range batches {
			whole, fits := fitting[b.Guild.ID]
			switch {
			case errs[i] != nil:
			case !fits:
				errs[i] = snapshot.ErrStale
			case !whole:
				errs[i] = snapshot.ErrArchiveBehind
			default:
				fit = append(fit, b)
			}
		}
		if err := upsert(ctx, tx, fit, replaceOlder); err != nil {
			return err
		}
		if err := replaceGains(ctx, tx, fit); err != nil {
			return err
		}
		if err := writeRecords(ctx, tx, fit); err != nil {
			return err
		}
		return keepRecords(ctx, tx, fit)
	})
	return errs, err
}

// raiseArchived locks the guilds of the batches that have no error, and returns those that they fit: the ones whose state a batch may be
// added to, and whether that is whole: then its archived is what it will be once the rows are written.
func raiseArchived(ctx context.Context, tx pgx.Tx, batches []snapshot.Batch, errs []error) (fitting map[id.Guild]bool, err error) {
	var guilds []string
	var incarnations, epochs, known, certain, revs []int64
	for i, b := range batches {
		if errs[i] == nil {
			guilds, incarnations = append(guilds, string(b.Guild.ID)), append(incarnations, int64(b.Guild.Incarnation))
			epochs, revs = append(epochs, b.Epoch), append(revs, b.Rev)
			known, certain = append(known, b.Known), append(certain, b.Archived)
		}
	}
	rows, err := tx.Query(ctx, `
		WITH fitting AS (
			SELECT g.id, b.rev, g.archived >= b.certain AS whole
			FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
				AS b (id, incarnation, epoch, known, certain, rev)
			JOIN guilds g ON g.id = b.id AND g.incarnation = b.incarnation AND g.epoch = b.epoch AND g.archived <= b.known
			ORDER BY g.id FOR NO KEY UPDATE OF g),
		raised AS (
			UPDATE guilds SET archived = greatest(archived, rev), verified = 0 FROM fitting WHERE guilds.id = fitting.id AND whole)
		SELECT id, whole FROM fitting`, guilds, incarnations, epochs, known, certain, revs)
	if err != nil {
		return nil, err
	}
	fitting = make(map[id.Guild]bool, len(guilds))
	var g id.Guild
	var whole bool
	_, err = pgx.ForEachRow(rows, []any{&g, &whole}, func() error {
		fitting[g] = whole
		return nil
	})
	return fitting, err
}

// replaceOlder is sqlarchive.ReplaceOlder with the words of names.
const replaceOlder = ` words = excluded.words,` + sqlarchive.ReplaceOlder

// upsert inserts the rows, and where there is one already does what conflict says, with more as the arguments from $17 on.
func upsert(ctx context.Context, tx pgx.Tx, batches []snapshot.Batch, conflict string, more ...any) error {
	c := columnsOf(batches)
	if len(c.users) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO members AS m (incarnation, epoch, rev, written_ms, user_id, xp, message_count, updated_ms, cooldown_ms,
			avatar, discriminator, username, global_name, accent_colour, deleted, present, words)
		SELECT r.incarnation, r.epoch, r.rev, `+nowMS+`, r.user_id, r.xp, r.message_count, r.updated_ms, r.cooldown_ms,
			r.avatar, r.discriminator, r.username, r.global_name, r.accent_colour, r.deleted, NOT r.absent, r.words
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
			$9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::boolean[], $16::text[])
			AS r (incarnation, epoch, rev, user_id, xp, message_count, updated_ms, cooldown_ms,
				avatar, discriminator, username, global_name, accent_colour, deleted, absent, words)
		ON CONFLICT (incarnation, user_id) DO UPDATE SET`+conflict,
		append([]any{
			c.incarnations, c.epochs, c.revs,
			c.users, c.xp, c.messages, c.updated, c.cooldown,
			c.avatars, c.discriminators, c.usernames, c.globalNames, c.accentColours, c.deleted, c.absent, c.words,
		}, more...)...)
	return refusal(err)
}

// refusal makes snapshot.ErrBadRow of an error that is about the data, an invalid value or a broken constraint (the classes
// 22 and 23 of SQLSTATE), and leaves any other alone. The server's message may repeat the data, so only its code is kept.
func refusal(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) || !strings.HasPrefix(e.Code, "22") && !strings.HasPrefix(e.Code, "23") {
		return err
	}
	return fmt.Errorf("%w: SQLSTATE %s", snapshot.ErrBadRow, e.Code)
}

// columns are rows turned into one array for each column, so that batches of any size are one prepared statement.
type columns struct {
	incarnations, epochs, revs          []int64
	users                               []string
	xp, messages                        []int64
	updated, cooldown                   []*int64
	discriminators, usernames, words    []string
	avatars, globalNames, accentColours []*string
	deleted, absent                     []bool
}

func columnsOf(batches []snapshot.Batch) *columns {
	c := new(columns)
	for _, b := range batches {
		for _, r := range b.Rows {
			if r.Deleted {
				r = snapshot.Row{Deleted: true, Member: leaderboard.Member{UserID: r.UserID}}
			}
			c.incarnations, c.epochs, c.revs = append(c.incarnations, int64(b.Guild.Incarnation)), append(c.epochs, b.Epoch), append(c.revs, cmp.Or(b.AsOf, b.Rev))
			c.users, c.deleted = append(c.users, string(r.UserID)), append(c.deleted, r.Deleted)
			c.absent = append(c.absent, r.Absent)
			c.xp, c.messages = append(c.xp, int64(r.XP)), append(c.messages, r.MessageCount)
			c.updated, c.cooldown = append(c.updated, sqlarchive.Millis(r.LastUpdated)), append(c.cooldown, sqlarchive.Millis(r.CooldownUntil))
			c.discriminators, c.usernames = append(c.discriminators, r.User.Discriminator), append(c.usernames, r.User.Username)
			c.avatars, c.globalNames = append(c.avatars, r.User.Avatar), append(c.globalNames, r.User.GlobalName)
			c.accentColours, c.words = append(c.accentColours, r.User.AccentColour), append(c.words, leaderboard.Words(r.User))
		}
	}
	return c
}
