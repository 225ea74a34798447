-- Members are found by the beginning of any word of their names. The service folds the words (leaderboard.Words), so that the index means the
-- same on every server and after every upgrade of its libraries. A row that keeps its words leaves the indexes alone, whatever else of it changes;
-- what has no words yet, written by a version before, is filled in after the migrations. CONCURRENTLY lets replicas of that version write on; a
-- build that was cut off leaves an index that is not valid, so what there is of it is dropped first.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE members ADD COLUMN IF NOT EXISTS words text; -- with a space between; null when they are not known

CREATE TABLE IF NOT EXISTS member_words (
    incarnation bigint NOT NULL,
    word        text COLLATE "C" NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    PRIMARY KEY (incarnation, word, user_id)
);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION index_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM member_words
        WHERE incarnation = OLD.incarnation AND user_id = OLD.user_id AND word = ANY (string_to_array(OLD.words, ' '));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO member_words
        SELECT NEW.incarnation, word, NEW.user_id FROM unnest(string_to_array(NEW.words, ' ')) AS word ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- A copy for a checkpoint has rev 0, and nobody searches it.
DROP TRIGGER IF EXISTS members_words_new ON members;
CREATE TRIGGER members_words_new AFTER INSERT ON members FOR EACH ROW WHEN (NEW.words <> '' AND NEW.rev > 0) EXECUTE FUNCTION index_words();
DROP TRIGGER IF EXISTS members_words_changed ON members;
CREATE TRIGGER members_words_changed AFTER UPDATE OF words ON members FOR EACH ROW WHEN (OLD.words IS DISTINCT FROM NEW.words) EXECUTE FUNCTION index_words();
DROP TRIGGER IF EXISTS members_words_gone ON members;
CREATE TRIGGER members_words_gone AFTER DELETE ON members FOR EACH ROW WHEN (OLD.words <> '') EXECUTE FUNCTION index_words();

DROP INDEX CONCURRENTLY IF EXISTS members_wordless;
CREATE INDEX CONCURRENTLY members_wordless ON members (incarnation) WHERE words IS NULL AND NOT deleted;
DROP INDEX CONCURRENTLY IF EXISTS members_username;
DROP INDEX CONCURRENTLY IF EXISTS members_global_name;

-- +goose Down
CREATE INDEX CONCURRENTLY IF NOT EXISTS members_username ON members (incarnation, lower(username COLLATE "C")) WHERE NOT deleted AND username <> '';
CREATE INDEX CONCURRENTLY IF NOT EXISTS members_global_name ON members (incarnation, lower(global_name COLLATE "C")) WHERE NOT deleted AND global_name <> '';
DROP INDEX CONCURRENTLY IF EXISTS members_wordless;
DROP TRIGGER IF EXISTS members_words_new ON members;
DROP TRIGGER IF EXISTS members_words_changed ON members;
DROP TRIGGER IF EXISTS members_words_gone ON members;
DROP FUNCTION IF EXISTS index_words();
DROP TABLE IF EXISTS member_words;
ALTER TABLE members DROP COLUMN IF EXISTS words;
