// Lock file of the service http: the Go version; there is no other module.
module prony.dev/services/http

go 1.26.0
