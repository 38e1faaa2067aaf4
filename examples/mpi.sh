#!/bin/sh
# The same program, built by the same MPI, is in the PATH of every cluster.
#METABROKER --components 4,2 -t 10
exec metabroker-launch --with "${MPI:-mpich}" ./allreduce
