#!/bin/sh
# Generate random passwords for compose.yaml, each in a file in deploy/secrets. Existing files are kept: to
# change a password, delete its files, run this again, and recreate the containers.
set -eu
umask 077

folder="$(dirname "$0")/secrets"
mkdir -p "$folder"

word() {
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

# the folder is closed to other users; the files are readable, since containers run as other users
write() {
    printf '%s\n' "$2" > "$folder/$1"
    chmod 444 "$folder/$1"
}

if [ ! -e "$folder/store_password" ]; then
    password="$(word)"
    rm -f "$folder/store_url" "$folder/store_settings"
    write store_url "redis://:$password@valkey:6379"
    write store_settings "requirepass $password"
    write store_password "$password"
fi
[ -e "$folder/grafana_password" ] || write grafana_password "$(word)"

echo "secrets are in $folder"
