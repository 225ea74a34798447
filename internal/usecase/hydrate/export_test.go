package hydrate

var (
	ErrArchiveOlder = errArchiveOlder
	ErrOtherFormat  = errOtherFormat
)
