"""metabroker as a service of a host: the files that `metabroker install-service` puts in place.

`files` says what they are, `plan` what is to be done with them, `place` does it. `systemd` and
`configs` are those of the repository, as links here and as copies in a wheel.
"""
