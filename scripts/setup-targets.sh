#!/bin/sh
# Installs what the targets and services need from Debian, then builds all
# targets, which fetches what Go, npm, Maven and cargo pin. Run again at will.
set -eu

# PROGRAM:PACKAGE, where any program of that name will do wherever it came from;
# what is no program is looked up as a package.
PROGRAMS="go:golang-go node:nodejs npm:npm javac:default-jdk-headless mvn:maven
nginx:nginx-light php-fpm8.2:php8.2-fpm php:php8.2-cli
mariadbd:mariadb-server mariadb:mariadb-client redis-server:redis-server
psql:postgresql ip:iproute2 nft:nftables"
PACKAGES="php8.2-mysql php8.2-curl php-redis"
PRONY=${PRONY:-target/release/prony}

say() { printf '== %s\n' "$*"; }

# The packages that are wanted, one a line.
missing() {
    for pair in $PROGRAMS; do
        PATH="$PATH:/usr/sbin:/usr/local/go/bin" command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"
    done
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
    no_daemons
    apt-get update
    # One by one: a package that this release lacks or holds back costs only
    # the targets that need it, and `targets build` names them.
    for package in $wanted; do
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" ||
            say "cannot install $package; see above"
    done
}

cd "$(dirname "$0")/.."
. scripts/no-daemons.sh
install_missing
if [ ! -x "$PRONY" ]; then
    say "$PRONY is not there; building it"
    cargo build --release --locked -p prony
    PRONY=target/release/prony
fi
say "building all targets"
"$PRONY" targets build --all
say "done; prony targets check --all asks them all"
