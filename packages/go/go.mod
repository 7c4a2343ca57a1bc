// Loads services with prony from Go's tests; the standard library only.
module prony.dev/go

go 1.22
