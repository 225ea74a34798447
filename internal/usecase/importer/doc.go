// Package importer reads members from the files of other bots and services, and proposes what to change. It also writes the
// export that it can read back. It does no network I/O, and reads each file once from the beginning, so standard input works.
//
//	in, err := importer.Read(ctx, files, guild, choice, spool) // reads all files, drops duplicates
//	in.Report                                                  // what was skipped, warnings, proposed settings
//	plan, err := in.Compare(ctx, members)                      // what would change
//	done, checkpoint, err := in.Apply(ctx, target, options)    // over HTTP or in the process
//
// # Memory
//
// Reader holds one value of a file at a time, of at most 1 MiB, whatever the size of the file. Finding duplicates needs
// memory for each user: Gather keeps 16 bytes for each member in a map (32 MB for a million, with the map's own), and
// the rows in the spool, a temporary file. Index keeps an id, an amount and a digest for each member of the guild,
// about 60 bytes. Sorting on disk would need no maps, but more code, and a guild has at most some millions of members.
//
// # No guesses
//
// A row with two possible meanings is skipped, and reported with its line. A file with
// two possible meanings is an error or a warning. A file that is cut off is an error.
package importer
