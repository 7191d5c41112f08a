"""``python -m attention_audit``, which is the command ``attention-audit``."""

import sys

from attention_audit.command import main

sys.exit(main())
