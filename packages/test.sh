#!/usr/bin/env bash
# `make test-dist`: installs each package of target/packages in a place of its own and makes a first load with it.
#
# A package whose tool cannot be had here is skipped with its reason, and counted. Loads go to a reference server on
# loopback, on a port that the system gives; only processes that were started here are ended.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/target/packages
work=$(mktemp -d)
passed=0 skipped=0 broken=0 missed=0 server=""
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
arch=$(uname -m)
case $arch in
  x86_64) debian=amd64 node=x64 ;;
  aarch64) debian=arm64 node=arm64 ;;
  *) echo "there are no packages for $arch" >&2; exit 2 ;;
esac
native=$out/stage/$arch/prony
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

[ -x "$native" ] || { echo "there are no packages: make dist" >&2; exit 2; }

# Whether a program is there, or can be installed: $1 from the Debian package $2.
has() {
  command -v "$1" > /dev/null 2>&1 && return
  [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1 && apt-get install -qq -y "$2" > /dev/null 2>&1 || return 1
  command -v "$1" > /dev/null 2>&1
}

skip() {
  echo "skipped: $1 ($2)"
  skipped=$((skipped + 1))
}

# Runs a check of several commands; any that fails breaks it.
check() {
  if (set -e; cd "$work"; "$2") > "$work/log" 2>&1; then
    echo "ok: $1"
    passed=$((passed + 1))
  else
    echo "BROKEN: $1"
    sed 's/^/  /' "$work/log"
    broken=$((broken + 1))
  fi
}

# A first load by the program and arguments before it, of 100 requests that are all answered. A busy host makes the numbers
# void (exit code 2), and what was counted holds all the same.
first_load() {
  "$@" load "$url" --requests 100 --connections 2 --quiet --format json > result.json || [ $? = 2 ]
  grep -q '"completed": 100,' result.json
}

static_binary() {
  for binary in "$out"/stage/*/prony; do
    # No interpreter is named in a static program.
    ! readelf --program-headers "$binary" | grep -q INTERP
  done
  first_load "$native"
}

# What is wanted of sizes: a miss is said and counted, and breaks nothing that a user does.
sizes() {
  for file in "$out"/stage/x86_64/prony "$out"/stage/aarch64/prony "$out"/image/blobs/sha256/*; do
    [ -f "$file" ] || continue
    case $file in *prony) wanted=25 ;; *) wanted=30 ;; esac
    size=$(stat --format %s "$file")
    if [ "$size" -gt $((wanted * 1000000)) ]; then
      echo "missed: ${file#"$out"/} has $((size / 1000000)) MB, $wanted MB are wanted"
      missed=$((missed + 1))
    fi
  done
}

other_architecture() {
  local qemu
  qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
  "$qemu" "$out/stage/aarch64/prony" --version | grep -qF "$version"
  first_load "$qemu" "$out/stage/aarch64/prony"
}

archives() {
  tar -xzf "$out/prony-$version-$arch-linux.tar.gz"
  first_load "./prony-$version-$arch-linux/prony"
  (cd "$out" && sha256sum --check --quiet SHA256SUMS)
}

debian_package() {
  mkdir -p deb
  dpkg-deb --extract "$out"/prony_*_"$debian".deb deb
  first_load deb/usr/bin/prony
  man --warnings -l deb/usr/share/man/man1/prony-load.1.gz 2>&1 > /dev/null | { ! grep .; }
  bash -c 'source deb/usr/share/bash-completion/completions/prony && complete -p prony'
}

installed_debian_package() {
  apt-get install -qq -y "$out"/prony_*_"$debian".deb
  first_load /usr/bin/prony
  apt-get remove -qq -y prony
}

lintian_is_content() {
  lintian --fail-on error --suppress-tags statically-linked-binary,no-changelog,debian-changelog-file-missing \
    "$out"/prony_*_"$debian".deb
}

rpm_package() {
  mkdir -p rpm
  (cd rpm && rpm2cpio "$out"/prony-*."$arch".rpm | cpio --extract --make-directories --no-absolute-filenames --quiet)
  rpm --query --list --package "$out"/prony-*."$arch".rpm | grep -q /usr/share/man/man1/prony.1.gz
  first_load rpm/usr/bin/prony
}

python_package() {
  python3 -m venv venv
  venv/bin/pip install --quiet --disable-pip-version-check "$out"/prony-*"$arch"*.whl
  first_load venv/bin/prony
  venv/bin/pip install --quiet --disable-pip-version-check pytest==8.4.1 pandas==2.3.1 nbclient==0.10.2 ipykernel==6.29.5
  venv/bin/python -m pytest -q "$root/packages/python/tests"
  cp "$root/packages/python/examples/first-load.ipynb" .
  URL=$url venv/bin/jupyter execute first-load.ipynb
}

npm_package() {
  mkdir -p node && cd node
  npm init --yes > /dev/null
  npm install --silent --no-audit --no-fund "$out"/prony-linux-"$node"-*.tgz "$out/prony-$version.tgz"
  first_load node_modules/.bin/prony
}

go_package() {
  cd "$root/packages/go"
  [ -z "$(gofmt -l .)" ]
  go vet ./...
  PRONY=$native go test -count=1 ./...
}

junit_package() {
  PRONY=$native mvn -q -B -ntp -f "$root/packages/junit" "-Dprony.build=$root/target/junit" test
}

image() {
  skopeo inspect --raw "oci:$out/image:$version" | grep -q arm64
  umoci unpack --image "$out/image:$version-$debian" bundle
  # As with --network host: the server is on the host's loopback.
  python3 - <<'PYTHON'
import json
path = "bundle/config.json"
config = json.load(open(path))
config["process"]["terminal"] = False
config["process"]["args"] = ["/usr/bin/prony"]
config["process"]["env"] += ["TARGET_URL=" + open("url").read(), "CONCURRENCY=2", "PRONY_REQUESTS=100", "PRONY_QUIET=true",
                             "PRONY_FORMAT=json"]
config["linux"]["namespaces"] = [one for one in config["linux"]["namespaces"] if one["type"] != "network"]
assert config["process"]["user"]["uid"] == 65532, config["process"]["user"]
json.dump(config, open(path, "w"))
PYTHON
  runc --root "$work/runc" run --bundle bundle "prony-test-$$" > result.json || [ $? = 2 ]
  grep -q '"completed": 100,' result.json
}

mkfifo "$work/said"
"$native" reference --listen 127.0.0.1:0 2> "$work/said" &
server=$!
read -r line < "$work/said"
url=http://${line#listening on }/
printf %s "$url" > "$work/url"

check "static programs" static_binary
sizes
if [ "$arch" = x86_64 ]; then
  if has qemu-aarch64-static qemu-user-static; then check "aarch64 under qemu" other_architecture
  else skip "aarch64" "qemu is missing: apt-get install qemu-user-static"; fi
fi
check "archive and checksums" archives
if has dpkg-deb dpkg; then check ".deb, unpacked: program, man page, completions" debian_package
else skip ".deb" "dpkg-deb is missing: apt-get install dpkg"; fi
if [ "$(id -u)" = 0 ] && has apt-get apt && ! dpkg -s prony > /dev/null 2>&1; then
  check ".deb, installed and removed" installed_debian_package
else skip ".deb, installed" "it needs root, apt-get, and no prony installed"; fi
if has lintian lintian; then check ".deb for lintian" lintian_is_content
else skip "lintian" "it is missing: apt-get install lintian"; fi
if has rpm2cpio rpm && has cpio cpio; then check ".rpm" rpm_package
else skip ".rpm" "rpm2cpio or cpio is missing: apt-get install rpm cpio"; fi
check "wheel, module, pytest and notebook" python_package
if has npm npm; then check "npm packages" npm_package
else skip "npm packages" "npm is missing: apt-get install npm"; fi
if has go golang-go; then check "Go helper" go_package
else skip "Go helper" "go is missing: apt-get install golang-go"; fi
if has mvn maven; then check "JUnit helper" junit_package
else skip "JUnit helper" "mvn is missing: apt-get install maven"; fi
if has umoci umoci && has skopeo skopeo && has runc runc; then check "image, run by runc as a user that is not root" image
else skip "image" "umoci, skopeo or runc is missing: apt-get install umoci skopeo runc"; fi

echo "packages: $passed ok, $broken broken, $skipped skipped, $missed sizes missed"
[ "$broken" = 0 ]
