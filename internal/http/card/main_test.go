package card

import (
	"testing"

	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// ada is an ordinary member.
var ada = Data{
	UserID: "100000000000000002", GlobalName: "Ada Lovelace", Username: "ada", Guild: "Gophers",
	Rank: 1, Level: 10, XP: 4750, Messages: 182, NextLevelXP: 5100, Progress: 63.16,
}

// with returns ada with a change.
func with(change func(d *Data)) Data {
	d := ada
	change(&d)
	return d
}

// crowded has the longest value of everything.
var crowded = Data{
	UserID: "9223372036854775807", GlobalName: "Maximiliane Wolkenschieberin-Oberhuber von der Heide", Username: "max",
	Guild: "The Exceedingly Long Named Community of Gophers and All Their Friends", Rank: 99999999, Level: 10000,
	XP: 2147483647, Messages: 1<<63 - 1, NextLevelXP: 2147483647, Progress: 100,
}

func anything(rune) bool { return true }
