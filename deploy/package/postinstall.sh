#!/bin/sh
# Neither starts nor restarts the service: a new one needs settings and a database, and an upgrade migrates first.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
