"""The command line: one file per family of commands, each loaded only when it is used."""
