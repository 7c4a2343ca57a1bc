#!/bin/sh
# Installs what the targets and services need from Debian, then builds all
# targets, which fetches what Go, npm, Maven and cargo pin. Run again at will.
#
# Installing a server package would start it as a daemon; a policy-rc.d says no
# while this runs, and is removed at the end unless it was there before.
set -eu

PACKAGES="golang-go nodejs npm default-jdk-headless maven
nginx-light php8.2-fpm php8.2-cli php8.2-mysql php-redis
mariadb-server mariadb-client redis-server postgresql
iproute2 nftables"
POLICY=/usr/sbin/policy-rc.d
PRONY=${PRONY:-target/release/prony}

say() { printf '== %s\n' "$*"; }

# The packages that are not there yet, one a line.
missing() {
    for package in $PACKAGES; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || echo "$package"
    done
}

install_missing() {
    wanted=$(missing)
    if [ -z "$wanted" ]; then
        say "Debian packages: all there"
        return
    fi
    if [ "$(id -u)" != 0 ]; then
        say "Debian packages missing; as root:"
        echo "apt-get install --no-install-recommends" $wanted
        return
    fi
    say "Debian packages: installing" $wanted
    if [ ! -e "$POLICY" ]; then
        trap 'rm -f "$POLICY"' EXIT
        trap 'exit 130' INT TERM
        printf '#!/bin/sh\n# Set by prony: no daemon starts.\nexit 101\n' >"$POLICY"
        chmod 755 "$POLICY"
    fi
    apt-get update
    # shellcheck disable=SC2086 # one word a package
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted
}

cd "$(dirname "$0")/.."
install_missing
if [ ! -x "$PRONY" ]; then
    say "$PRONY is not there; building it"
    cargo build --release --locked -p prony
    PRONY=target/release/prony
fi
say "building all targets"
"$PRONY" targets build --all
say "done; prony targets check --all asks them all"
