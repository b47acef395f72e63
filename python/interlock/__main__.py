"""`python -m interlock`: the same as the `interlock` script."""

from interlock.cli import main

if __name__ == "__main__":
    main()
