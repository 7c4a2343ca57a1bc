// What every Go target must share so that a comparison of two targets compares
// the frameworks and nothing else. It depends on the standard library only.
module prony.dev/targets/common

go 1.26
