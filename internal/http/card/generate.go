package card

//go:generate go test -count=1 -run TestPictureInTheDocs . -update
