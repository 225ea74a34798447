package health

var Reason = reason
