package hydrate

var (
	ErrArchiveOlder  = errArchiveOlder
	ErrEarlierFormat = errEarlierFormat
	ErrLaterFormat   = errLaterFormat
)
