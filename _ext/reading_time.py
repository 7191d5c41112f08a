"""How a page's first cell states its minutes."""

import re

# The minutes of reading, and those of the exercises; in a notebook, Time is bold.
TIME = re.compile(
    r"(?:\*\*)?Time:(?:\*\*)?\s+about (\d+) minutes\b"
    r"(?:, and (?:about )?(\d+) for the exercises?)?"
)
