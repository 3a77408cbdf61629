#!/bin/sh
# Stops the service when the package is removed (deb: remove, rpm: 0 left), and not when it is upgraded.
set -e
if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now lineproof.service
fi
