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

// Archive runs the conformance suite of archives. open returns an empty, migrated archive, which it closes when the test
// ends.
func Archive(t *testing.T, open func(t *testing.T) store.Archive) {
	for name, test := range map[string]func(*testing.T, store.Archive){
		"settings come back as written":                   archiveSettings,
		"a replaced guild keeps its incarnation":          archiveReplace,
		"managers find their guilds":                      archiveManagers,
		"a vanity belongs to one guild":                   archiveVanity,
		"an update is of the version that was read":       archiveUpdate,
		"a change leaves the other properties":            archiveChange,
		"one of many updates is made":                     archiveUpdateRace,
		"guilds are described":                            archiveDescribe,
		"a directory names roles and channels":            archiveNamed,
		"descriptions that change nothing":                archiveDescribedAlready,
		"descriptions and edits":                          archiveDescribeAndEdit,
		"descriptions at the same time":                   archiveDescribeRace,
		"a directory's names may be too long":             archiveDirectoryTooLong,
		"guilds are listed in pieces":                     archiveGuildList,
		"users are hidden and shown":                      archiveHidden,
		"flags are read in parts":                         archiveHiddenParts,
		"hidden users and closed periods":                 archiveHiddenPeriods,
		"a deleted guild's past does not return":          archiveDelete,
		"keys come back as written":                       archiveKeys,
		"grants":                                          archiveGrants,
		"a key for an unknown guild is not made":          archiveKeyUnknownGuild,
		"keys up to a number":                             archiveKeyLimit,
		"a user changes their own keys only":              archiveKeyOwners,
		"a user's keys, as they see them":                 archiveOwnedKeys,
		"rotations":                                       archiveRotations,
		"old secrets are few":                             archiveOldSecrets,
		"lost rights take grants away":                    archiveKeepGrants,
		"the history of keys":                             archiveHistory,
		"a history is bounded":                            archiveHistoryBound,
		"the use of keys adds up":                         archiveUse,
		"the use of keys by many replicas":                archiveUseRace,
		"the change log has no gaps":                      archiveLog,
		"what changes nothing is not logged":              archiveNoChange,
		"the lease is one holder's":                       archiveLease,
		"an expired lease passes on with a new fence":     archiveLeaseExpiry,
		"a lease that ends too far ahead is void":         archiveLeaseTooFarAhead,
		"members come back as written":                    archiveMembers,
		"an older rev never replaces a newer one":         archiveRevs,
		"a batch of another epoch is refused":             archiveEpochs,
		"a batch of another incarnation is refused":       archiveIncarnations,
		"the states of many guilds":                       archiveStates,
		"one of many raises the epoch":                    archiveEpochRace,
		"tombstones hide members until they are purged":   archiveTombstones,
		"salvage inserts and merges":                      archiveSalvage,
		"salvage keeps what is known of users":            archiveSalvageUsers,
		"checkpoints and what is restored of them":        archiveCheckpoints,
		"imports that are applied once":                   archiveImports,
		"an erasure":                                      archiveErasure,
		"an erasure of a member of a step":                archiveErasedRest,
		"an erasure waits for copies of members":          archiveErasureRace,
		"a replacement that is refused":                   archiveReplaceRefused,
		"checkpoints are few":                             archiveCheckpointBounds,
		"a replacement keeps closed periods and records":  archiveReplaceKeeps,
		"announcements and their states":                  archiveAnnouncementStates,
		"announcements that are off":                      archiveAnnouncementsOff,
		"the addresses of announcements":                  archiveAnnouncementSecrets,
		"followers learn of new curves and rewards":       archiveResets,
		"salvaged presence is the later one":              archiveSalvagePresence,
		"salvage and tombstones":                          archiveSalvageTombstones,
		"salvage what was deleted":                        archiveSalvageDeleted,
		"salvage into another state is refused":           archiveSalvageStale,
		"salvage and epoch are one after the other":       archiveSalvageRace,
		"batches of many guilds":                          archiveGroups,
		"an archive that lost a batch takes no later one": archiveBehind,
		"batches of many guilds need the lease":           archiveGroupLease,
		"batches of many guilds do not wait in circles":   archiveGroupRace,
		"members are found by name":                       archiveNames,
		"names are found in a large guild":                archiveManyNames,
		"members are read in pieces":                      archivePieces,
		"requests, and what was lost of them":             archiveRequests,
		"requests of a live store that went back":         archiveRequestsSalvaged,
		"requests of yesterday are purged":                archiveRequestsPurged,
		"the audit log of a journal":                      archiveAudit,
		"the order of an audit log":                       archiveAuditOrder,
		"old audit records are purged":                    archiveAuditPurged,
		"purging takes pieces":                            archivePurge,
		"gains by day":                                    archiveGains,
		"gains of entries that were deleted":              archiveGainsDeleted,
		"gains of an older batch":                         archiveGainsOlder,
		"gains of many guilds":                            archiveGainsGroups,
		"gains are salvaged":                              archiveGainsSalvaged,
		"gains of the last days":                          archiveLastDays,
		"sums of gains":                                   archiveSums,
		"closing a period":                                archiveClosing,
		"closing that is refused":                         archiveClosingRefused,
		"closing without a board":                         archiveClosingTotals,
		"closing at the same time":                        archiveClosingRace,
		"guilds that are due":                             archiveDue,
		"closed seasons keep their dates":                 archiveClosedSeasons,
		"closed periods":                                  archivePeriods,
		"closed periods are announced":                    archiveAnnouncements,
		"closed periods and gains are purged":             archiveHistoryPurged,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const (
	guildA id.Guild = "100000000000000001"
	guildB id.Guild = "9999999999999999999"
	ownerA id.User  = "200000000000000001"
)

// settingsOf parses a document, as the admin API does.
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

// mustGet returns what a call returned beside its error, which ends the test.
func mustGet[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}
