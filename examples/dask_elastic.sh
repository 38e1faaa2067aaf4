#!/bin/sh
#METABROKER --components 2,2+,2+ -t 30
exec metabroker-launch --with dask python3 dask_elastic.py "$@"
