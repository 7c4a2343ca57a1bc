// Lock file of the target go/replicas: exact versions, checked against go.sum.
module prony.dev/targets/replicas

go 1.26.0

require prony.dev/targets/common v0.0.0

replace prony.dev/targets/common => ../common
