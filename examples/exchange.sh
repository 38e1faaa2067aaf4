#!/bin/sh
# Components tell each other something, without shared files.
#METABROKER --components 4,2 -t 10
echo "$METABROKER_CLUSTER on $(uname -n)" | metabroker-exchange put greeting
other=0
while [ "$other" -lt "$METABROKER_COMPONENTS" ]; do
    metabroker-exchange get "$other" greeting --timeout 120
    other=$((other + 1))
done
metabroker-exchange barrier heard
