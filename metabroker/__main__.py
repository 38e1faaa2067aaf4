"""`python -m metabroker`: the command line."""

from metabroker.cli.main import main

if __name__ == "__main__":
    main()
