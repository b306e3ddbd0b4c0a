#!/bin/sh
# A backup of a store on this machine, or elsewhere: back-up-valkey FOLDER [-h HOST -p PORT ...]
#
# The store sends a snapshot of what it holds and goes on meanwhile. The snapshot is checked before it gets its
# name; snapshots older than two weeks are deleted after that. The password is in REDISCLI_AUTH, or in the
# settings of the store on this machine.
set -eu
umask 077

folder="$1"
shift
settings=/etc/valkey/local.d/local.conf
if [ -z "${REDISCLI_AUTH-}" ] && [ -r "$settings" ]; then
    REDISCLI_AUTH="$(sed -n 's/^requirepass //p' "$settings")"
    export REDISCLI_AUTH
fi
product=valkey
command -v valkey-cli >/dev/null || product=redis

file="$folder/saratoga-$(date -u +%Y%m%dT%H%M%SZ).rdb"
mkdir -p "$folder"
"$product-cli" "$@" --rdb "$file.unfinished"
"$product-check-rdb" "$file.unfinished"
mv "$file.unfinished" "$file"
find "$folder" -name 'saratoga-*.rdb*' -mtime +14 -delete
