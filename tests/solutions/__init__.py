"""Right and wrong solutions of the exercises, as readers might write them.

Each module is named after its check. It holds ``RIGHT``, a list of solutions, and
``WRONG``, a list of pairs: a solution and the name of the mistake that the check must
see in it, or None where no known mistake fits. Here both are dicts of these lists.
"""

import importlib
import pkgutil

NAMES = sorted(found.name for found in pkgutil.iter_modules(__path__))
MODULES = {name: importlib.import_module(f"{__name__}.{name}") for name in NAMES}
RIGHT = {name: module.RIGHT for name, module in MODULES.items()}
WRONG = {name: module.WRONG for name, module in MODULES.items()}
