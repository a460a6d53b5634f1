#!/bin/sh
# exits.sh STATUS COMMAND...: succeeds if COMMAND exits with just that status.
wanted=$1
shift
"$@"
got=$?
if [ "$got" != "$wanted" ]; then
    echo "exit status $got, not $wanted: $*" >&2
    exit 1
fi
