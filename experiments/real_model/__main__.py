"""Ask the real models what the record lacks; stop and start it at any time."""

import sys

from experiments import many, real_model

if __name__ == "__main__":
    sys.exit(many.main("real_model", real_model.wanted, real_model.measure))
