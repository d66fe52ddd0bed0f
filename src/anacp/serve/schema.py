"""The tables of a journal."""

FORMAT = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Every content once, whether it is an example, waits in the pile, or was forgotten and may come back.
CREATE TABLE IF NOT EXISTS contents (
    digest BLOB PRIMARY KEY, name TEXT NOT NULL, text TEXT, thumbnail BLOB, features BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS events (
    version INTEGER PRIMARY KEY, what TEXT NOT NULL, happened TEXT NOT NULL, n INTEGER NOT NULL,
    classes TEXT NOT NULL, detail TEXT NOT NULL, of INTEGER
);
CREATE TABLE IF NOT EXISTS moves (
    version INTEGER NOT NULL, digest BLOB NOT NULL, before TEXT, after TEXT, PRIMARY KEY (version, digest)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS models (version INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS checkpoints (version INTEGER PRIMARY KEY, digest TEXT NOT NULL);
-- What follows from the events: as what each content is known now.
CREATE TABLE IF NOT EXISTS examples (
    digest BLOB PRIMARY KEY, label TEXT NOT NULL, since INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS examples_by_label ON examples (label, since, digest);
CREATE TABLE IF NOT EXISTS pile (place INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS annotations (id TEXT PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY, folder TEXT NOT NULL, state TEXT NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL,
    problem TEXT
);
"""
