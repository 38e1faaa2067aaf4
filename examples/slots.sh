#!/bin/sh
# A plain command for each slot, and what its processes have for finding each other.
#METABROKER --components 4,2 -t 10
exec metabroker-launch --label sh -c \
    'echo "rank $METABROKER_RANK of $METABROKER_WORLD_SIZE in $METABROKER_CLUSTER"'
