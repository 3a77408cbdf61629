#!/bin/sh
# Before the files are unpacked, because some belong to the user. Nothing happens if it is there.
set -e
if ! getent passwd lineproof >/dev/null; then
	useradd --system --user-group --no-create-home --home-dir /var/lib/lineproof --shell /usr/sbin/nologin --comment Lineproof lineproof
fi
