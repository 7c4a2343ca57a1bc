// Lock file of the target go/supervised: exact versions, checked against go.sum.
module prony.dev/targets/supervised

go 1.26.0

require prony.dev/targets/common v0.0.0

replace prony.dev/targets/common => ../common
