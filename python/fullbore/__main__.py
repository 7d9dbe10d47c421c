"""The `fullbore` command of an installed package: becomes the program that the wheel carries."""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "fullbore")
    os.execv(program, [program] + sys.argv[1:])


if __name__ == "__main__":
    main()
