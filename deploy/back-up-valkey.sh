#!/bin/sh
# A backup of a store on this machine, or elsewhere: back-up-valkey FOLDER [-h HOST -p PORT ...]
#
# The store sends a snapshot of what it holds and goes on meanwhile. The snapshot is checked before it gets its
# name. After that all but the newest 14 snapshots in FOLDER are deleted, so give each store a folder of its own.
# The password is in REDISCLI_AUTH, or in the settings of the store on this machine.
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

# in the order of their dates
LC_ALL=C
set -- "$folder"/saratoga-*.rdb
for last in "$@"; do :; done
if [ "$last" != "$file" ]; then
    echo "Nothing was deleted, because the date of $last is in the future. Move it elsewhere." >&2
    exit 1
fi
while [ $# -gt 14 ]; do
    rm -- "$1"
    shift
done
find "$folder" -name 'saratoga-*.rdb.unfinished' -mtime +14 -delete
