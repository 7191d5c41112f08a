"""What a parameter's name says it makes."""

import re

ROLES = {"queries": "q|query|queries", "keys": "k|key|keys", "values": "v|value|values"}
BEFORE = r"(?:w|to|lin|linear|proj|fc|c|in|conv|dense)?_?"
BEHIND = (
    r"(?:s|_?proj|_?projection|_?lin|_?linear|_?layer|_?net|_?fc|_?conv|_?w|_?weight)?"
)


def role_of(parameter: str) -> str:
    """What a parameter's name says it makes, or ""."""
    for part in reversed(parameter.lower().split(".")):
        for role, names in ROLES.items():
            if re.fullmatch(f"{BEFORE}(?:{names}){BEHIND}", part):
                return role
    return ""
