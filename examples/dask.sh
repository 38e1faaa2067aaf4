#!/bin/sh
#METABROKER --components 4,2 -t 10
exec metabroker-launch --with dask python3 dask_squares.py
