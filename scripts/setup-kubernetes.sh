#!/bin/sh
# Builds a control plane of Kubernetes and kwok from the Go module proxy, for the
# test that starts agents in pods (crates/cli/tests/it/fleet_kubernetes.rs).
# It goes to target/kubernetes; run again at will. Nine minutes on two cores the
# first time. etcd comes from Debian.
set -eu

KUBERNETES=v1.36.3
KWOK=v0.8.0
PROGRAMS="kube-apiserver kube-controller-manager kube-scheduler kubectl"

say() { printf '== %s\n' "$*"; }

cd "$(dirname "$0")/.."
. scripts/no-daemons.sh
if ! command -v go >/dev/null; then
    echo "go is not on PATH (apt-get install golang-go, 1.26 or later)" >&2
    exit 1
fi
if ! command -v etcd >/dev/null; then
    if [ "$(id -u)" != 0 ]; then
        echo "etcd is missing; as root: apt-get install --no-install-recommends etcd-server" >&2
        exit 1
    fi
    no_daemons
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends etcd-server
fi

mkdir -p target/kubernetes/bin target/kubernetes/build
GOBIN="$PWD/target/kubernetes/bin"
export GOBIN CGO_ENABLED=0
cd target/kubernetes/build

# What Kubernetes keeps in one tree is published as modules of their own, whose
# versions only its workspace knows.
say "modules of Kubernetes $KUBERNETES"
rm -f go.mod go.sum
go mod init kubernetes.build
file=$(go mod download -json "k8s.io/kubernetes@$KUBERNETES" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
for module in $(sed -n 's/^[[:space:]]*\(k8s.io\/[^ ]*\) v0.0.0\($\| .*\)/\1/p' "$file" | sort -u); do
    go mod edit -replace "$module=$module@v0.${KUBERNETES#v1.}"
done
go mod edit -require "k8s.io/kubernetes@$KUBERNETES"
for program in $PROGRAMS; do
    say "$program"
    go build -mod=mod -o "$GOBIN/$program" -trimpath -ldflags "-s -w" "k8s.io/kubernetes/cmd/$program"
done

say "kwok $KWOK"
cd ..
go install "sigs.k8s.io/kwok/cmd/kwok@$KWOK"
stages="$(go mod download -json "sigs.k8s.io/kwok@$KWOK" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/kustomize/stage"
for stage in node/fast/node-initialize node/heartbeat/node-heartbeat pod/fast/pod-ready pod/fast/pod-delete; do
    echo ---
    cat "$stages/$stage.yaml"
done >stages.yaml
say "done: $(ls bin | tr '\n' ' ')and what kwok does, stages.yaml"
