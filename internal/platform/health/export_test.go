package health

// Reason is reason.
var Reason = reason

// Dialable is dialable.
var Dialable = dialable
