# Sourced by what installs packages: one of Debian with a server would start it
# as a daemon. A policy-rc.d says no until the script ends, and is removed then,
# unless it was there before.
POLICY=/usr/sbin/policy-rc.d

no_daemons() {
    if [ ! -e "$POLICY" ]; then
        trap 'rm -f "$POLICY"' EXIT
        trap 'exit 130' INT TERM
        printf '#!/bin/sh\n# Set by prony: no daemon starts.\nexit 101\n' >"$POLICY"
        chmod 755 "$POLICY"
    fi
}
