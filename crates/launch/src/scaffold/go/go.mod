// Lock file of the target go/example: only the standard library.
module prony.dev/targets/example

go 1.26
