#!/bin/sh
# Passwords for compose.yaml, made by chance, each in a file of its own in deploy/secrets. Files that are
# there are kept: to change a password, delete its files, run this again, and make the containers anew.
set -eu
umask 077

folder="$(dirname "$0")/secrets"
mkdir -p "$folder"

word() {
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

# the folder keeps strangers out; the users in the containers, who are others, must read the files
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
