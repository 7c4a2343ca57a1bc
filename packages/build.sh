#!/usr/bin/env bash
# `make dist`: all packages of this version, in target/packages. Each step is a function; packages/README.md says what each
# makes and from what.
#
# Invariant: the same commit gives the same bytes wherever it is built. Paths are taken out of the binaries, and all times
# are that of the commit.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
out=$root/target/packages
stage=$out/stage
tools=$root/target/tools/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architectures=${ARCHITECTURES:-x86_64 aarch64}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

need() {
  command -v "$1" > /dev/null 2>&1 || { echo "$1 is missing: $2" >&2; exit 2; }
}

# zig compiles the parts in C for any architecture; with it comes the C library of each.
tools_are_there() {
  need python3 "apt-get install python3 python3-venv"
  need rustup "https://rustup.rs"
  [ -x "$tools/bin/cargo-zigbuild" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check ziglang==0.15.1 cargo-zigbuild==0.20.1 build==1.2.2
  }
  for arch in $architectures; do rustup target add "$arch-unknown-linux-musl" > /dev/null; done
}

# A static binary of one architecture: $1.
binary() {
  local target=$1-unknown-linux-musl cargo=${CARGO_HOME:-$HOME/.cargo} sysroot
  sysroot=$(rustc --print sysroot)
  local maps="--remap-path-prefix=$root=. --remap-path-prefix=$cargo=cargo --remap-path-prefix=$sysroot=rust"
  local cflags="-ffile-prefix-map=$root=. -ffile-prefix-map=$cargo=cargo"
  # LuaJIT's make links a program of its own, which nobody gets: zig keeps its unwinder in a library apart, and this
  # host's strip knows no other architecture.
  PATH="$tools/bin:$PATH" RUSTFLAGS="$maps" CFLAGS="$cflags" TARGET_XLIBS="-lunwind -ldl" TARGET_STRIP=true \
    cargo zigbuild --profile dist --locked --package prony --target "$target"
  mkdir -p "$stage/$1"
  cp "target/$target/dist/prony" "$stage/$1/prony"
}

# What stands beside the binary in every package: pages, completions, licence, changes.
documents() {
  mkdir -p "$stage/man" "$stage/completions"
  PRONY_WRITE_MAN=$stage/man cargo test --quiet --locked --package prony --bin prony man:: > /dev/null
  gzip --no-name --force --best "$stage"/man/*.1
  local prony=$stage/$(uname -m)/prony
  "$prony" completions bash > "$stage/completions/prony.bash"
  "$prony" completions zsh > "$stage/completions/_prony"
  "$prony" completions fish > "$stage/completions/prony.fish"
  cp packages/copyright "$stage/copyright"
  gzip --no-name --best --stdout CHANGELOG.md > "$stage/changelog.gz"
  find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

archive() {
  local name=prony-$version-$1-linux
  mkdir -p "$stage/$name"
  cp -r "$stage/$1/prony" "$stage/man" "$stage/completions" LICENSE README.md CHANGELOG.md "$stage/$name"
  tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX \
    --directory "$stage" "$name" | gzip --no-name --best > "$out/$name.tar.gz"
}

# .deb and .rpm, from one description.
system_packages() {
  need go "https://go.dev/dl, or apt-get install golang-go"
  local mtime
  mtime=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  [ -x "$tools/bin/nfpm" ] || GOBIN=$tools/bin go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
  for kind in deb rpm; do
    local one=$stage/$kind-$1
    mkdir -p "$one"
    cp -r "$stage/$1/prony" "$stage/man" "$stage/completions" "$stage/copyright" "$stage/changelog.gz" "$one"
    ARCH=${goarch[$1]} VERSION=$version STAGE=$one MTIME=$mtime envsubst < packages/nfpm.yaml > "$one/nfpm.yaml"
    "$tools/bin/nfpm" package --config "$one/nfpm.yaml" --packager "$kind" --target "$out" > /dev/null
  done
}

wheel() {
  PRONY_BINARY=$stage/$1/prony PRONY_WHEEL_PLATFORM=manylinux2014_$1.musllinux_1_1_$1 \
    "$tools/bin/python" -m build --wheel --outdir "$out" packages/python > /dev/null
}

npm_packages() {
  need npm "apt-get install npm"
  for arch in $architectures; do
    local one=$stage/npm-$arch
    mkdir -p "$one/bin"
    sed "s/ARCH/${nodearch[$arch]}/g; s/\"version\": \"[^\"]*\"/\"version\": \"$version\"/" packages/npm/platform.json \
      > "$one/package.json"
    install --mode=755 "$stage/$arch/prony" "$one/bin/prony"
    (cd "$out" && npm pack --silent "$one" > /dev/null)
  done
  (cd "$out" && npm pack --silent "$root/packages/npm/prony" > /dev/null)
}

# One layout with an image for each architecture.
image() {
  local authorities=/etc/ssl/certs/ca-certificates.crt all=()
  [ -f "$authorities" ] || { echo "$authorities is missing: apt-get install ca-certificates" >&2; exit 2; }
  for arch in $architectures; do all+=("${goarch[$arch]}=$stage/$arch/prony"); done
  rm -rf "$out/image"
  python3 packages/oci.py "$out/image" "$version" "$SOURCE_DATE_EPOCH" "$authorities" "${all[@]}"
}

# What is in the binary, as CycloneDX.
bill_of_materials() {
  [ -x "$tools/bin/cargo-cyclonedx" ] || cargo install --quiet --locked --root "$tools" cargo-cyclonedx --version 0.5.7
  PATH="$tools/bin:$PATH" cargo cyclonedx --quiet --format json --manifest-path crates/cli/Cargo.toml \
    --override-filename prony.cdx
  mv crates/cli/prony.cdx.json "$out/prony-$version.cdx.json"
  # One is written for each of our packages, beside its manifest.
  find crates benches -name prony.cdx.json -delete
}

# Formulas name the archives by their hashes.
formulas() {
  local hash
  for arch in $architectures; do
    hash=$(sha256sum "$out/prony-$version-$arch-linux.tar.gz" | cut -d ' ' -f 1)
    declare "hash_$arch=$hash"
  done
  sed "s/@VERSION@/$version/g; s/@X86_64@/${hash_x86_64:-}/; s/@AARCH64@/${hash_aarch64:-}/" packages/prony.rb.in > "$out/prony.rb"
}

checksums() {
  (cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%P\n' | sort | xargs sha256sum > SHA256SUMS)
  if [ -n "${MINISIGN_KEY:-}" ]; then
    need minisign "apt-get install minisign"
    minisign -S -s "$MINISIGN_KEY" -m "$out/SHA256SUMS" -x "$out/SHA256SUMS.minisig"
  else
    echo "not signed: MINISIGN_KEY names no key"
  fi
}

declare -A goarch=([x86_64]=amd64 [aarch64]=arm64) nodearch=([x86_64]=x64 [aarch64]=arm64)
rm -rf "$out"
mkdir -p "$stage"
tools_are_there
for arch in $architectures; do echo "building for $arch"; binary "$arch"; done
documents
for arch in $architectures; do archive "$arch"; system_packages "$arch"; wheel "$arch"; done
npm_packages
image
bill_of_materials
formulas
checksums
echo "packages are in $out:"
du -sh "$out"/*.* "$out/image" | sed "s#$out/##"
