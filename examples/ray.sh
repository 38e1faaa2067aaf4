#!/bin/sh
#METABROKER --components 4,2 -t 10
exec metabroker-launch --with ray python3 ray_squares.py
