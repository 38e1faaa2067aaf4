#!/bin/sh
#METABROKER --components 4,2 -t 10
export OMP_NUM_THREADS=1
exec metabroker-launch --with torchrun torchrun.py
