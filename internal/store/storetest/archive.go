package storetest

import (
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// Archive runs the conformance suite of archives. open returns an empty, migrated archive and closes it when the test ends.
func Archive(t *testing.T, open func(t *testing.T) store.Archive) {
	for name, test := range map[string]func(*testing.T, store.Archive){
		"settings come back as written":                   archiveSettings,
		"a replaced guild keeps its incarnation":          archiveReplace,
		"managers find their guilds":                      archiveManagers,
		"a vanity belongs to one guild":                   archiveVanity,
		"an update needs the version it read":             archiveUpdate,
		"a change leaves the other properties":            archiveChange,
		"one of many updates is made":                     archiveUpdateRace,
		"guilds are described":                            archiveDescribe,
		"a directory names roles and channels":            archiveNamed,
		"equal descriptions change nothing":               archiveDescribedAlready,
		"a description does not end an edit":              archiveDescribeAndEdit,
		"concurrent descriptions all count":               archiveDescribeRace,
		"names that are too long are refused":             archiveDirectoryTooLong,
		"guilds are listed in pages":                      archiveGuildList,
		"users are hidden and shown":                      archiveHidden,
		"flags are read in parts":                         archiveHiddenParts,
		"closed boards leave out hidden users":            archiveHiddenPeriods,
		"a recreated guild has no past":                   archiveDelete,
		"keys come back as written":                       archiveKeys,
		"grants":                                          archiveGrants,
		"a key for an unknown guild is not made":          archiveKeyUnknownGuild,
		"an owner's keys are bounded":                     archiveKeyLimit,
		"a user changes their own keys only":              archiveKeyOwners,
		"an owner lists their keys":                       archiveOwnedKeys,
		"rotations":                                       archiveRotations,
		"old secrets are bounded":                         archiveOldSecrets,
		"lost rights take grants away":                    archiveKeepGrants,
		"each change of a key is recorded":                archiveHistory,
		"a history is bounded":                            archiveHistoryBound,
		"the use of keys adds up":                         archiveUse,
		"many replicas count the use of keys":             archiveUseRace,
		"the change log has no gaps":                      archiveLog,
		"what changes nothing is not logged":              archiveNoChange,
		"the lease is one holder's":                       archiveLease,
		"an expired lease passes on with a new fence":     archiveLeaseExpiry,
		"a lease that ends too far ahead is void":         archiveLeaseTooFarAhead,
		"members come back as written":                    archiveMembers,
		"an older rev never replaces a newer one":         archiveRevs,
		"a batch of another epoch is refused":             archiveEpochs,
		"a batch of another incarnation is refused":       archiveIncarnations,
		"states of many guilds are read":                  archiveStates,
		"one of many writers raises the epoch":            archiveEpochRace,
		"tombstones hide members until they are purged":   archiveTombstones,
		"a salvage inserts and merges":                    archiveSalvage,
		"a salvage keeps known user data":                 archiveSalvageUsers,
		"a checkpoint restores its members":               archiveCheckpoints,
		"an import is applied once":                       archiveImports,
		"an erased user leaves no trace":                  archiveErasure,
		"an erasure keeps a step's other members":         archiveErasedRest,
		"an erasure waits for copies of members":          archiveErasureRace,
		"an invalid replacement is refused":               archiveReplaceRefused,
		"checkpoints are bounded":                         archiveCheckpointBounds,
		"a replacement keeps closed periods and records":  archiveReplaceKeeps,
		"states follow their announcements":               archiveAnnouncementStates,
		"announcements go off and on":                     archiveAnnouncementsOff,
		"announcements' addresses stay secret":            archiveAnnouncementSecrets,
		"followers learn of new curves and rewards":       archiveResets,
		"salvaged presence is the later one":              archiveSalvagePresence,
		"a salvage respects tombstones":                   archiveSalvageTombstones,
		"a salvage deletes deleted members":               archiveSalvageDeleted,
		"salvage into another state is refused":           archiveSalvageStale,
		"a salvage and a raise do not overlap":            archiveSalvageRace,
		"batches are checked one by one":                  archiveGroups,
		"an archive that lost a batch takes no later one": archiveBehind,
		"batches of many guilds need the lease":           archiveGroupLease,
		"batches of many guilds do not deadlock":          archiveGroupRace,
		"members are found by name":                       archiveNames,
		"names are found in a large guild":                archiveManyNames,
		"members are read in pages":                       archivePieces,
		"past requests and their losses":                  archiveRequests,
		"requests of a stale Redis are salvaged":          archiveRequestsSalvaged,
		"old requests are purged":                         archiveRequestsPurged,
		"a journal's entries are audited":                 archiveAudit,
		"an audit log is in order":                        archiveAuditOrder,
		"old audit records are purged":                    archiveAuditPurged,
		"a purge works in pieces":                         archivePurge,
		"gains are kept by day":                           archiveGains,
		"a deleted entry's gains go":                      archiveGainsDeleted,
		"an older batch changes no gains":                 archiveGainsOlder,
		"batches of many guilds bring gains":              archiveGainsGroups,
		"gains are salvaged":                              archiveGainsSalvaged,
		"a load reads the last days' gains":               archiveLastDays,
		"gains are summed by period":                      archiveSums,
		"a period closes once":                            archiveClosing,
		"an invalid closing is refused":                   archiveClosingRefused,
		"a day closes without a board":                    archiveClosingTotals,
		"one of many closers closes a period":             archiveClosingRace,
		"guilds with periods to close are due":            archiveDue,
		"closed seasons keep their dates":                 archiveClosedSeasons,
		"closed periods are listed":                       archivePeriods,
		"closed periods are announced":                    archiveAnnouncements,
		"old periods and gains are purged":                archiveHistoryPurged,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const (
	guildA id.Guild = "100000000000000001"
	guildB id.Guild = "9999999999999999999"
	ownerA id.User  = "200000000000000001"
)

// settingsOf parses a document as the admin API does.
func settingsOf(t *testing.T, g id.Guild, more string) guild.Settings {
	t.Helper()
	s := mustGet(guild.Parse(g, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"`+string(ownerA)+`"`+more+`}`)))(t)
	return s
}

// PutGuild creates a guild with the default settings.
func PutGuild(t *testing.T, a store.Archive, g id.Guild) *guild.Guild {
	t.Helper()
	return put(t, a, settingsOf(t, g, ""))
}

func put(t *testing.T, a store.Archive, s guild.Settings) *guild.Guild {
	t.Helper()
	g, _, err := a.PutGuild(t.Context(), s)
	if err != nil {
		t.Fatalf("put guild: %v", err)
	}
	return g
}

// leased returns a lease that outlasts the test.
func leased(t *testing.T, a store.Archive) lease.Lease {
	t.Helper()
	l := mustGet(a.AcquireLease(t.Context(), "writer", time.Hour, false))(t)
	return l
}

func refOf(g *guild.Guild) leaderboard.GuildRef {
	return leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation}
}

func allMembers(t *testing.T, a store.Archive, g *guild.Guild) []snapshot.Row {
	t.Helper()
	rows := mustGet(a.Members(t.Context(), refOf(g), "", 100))(t)
	if last := mustGet(a.LastDay(t.Context(), refOf(g)))(t); last > 0 && len(rows) > 0 {
		must(t, a.AddGains(t.Context(), refOf(g), rows, last, nil))
	}
	return rows
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustGet returns a function that ends the test on err and returns v.
func mustGet[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}
