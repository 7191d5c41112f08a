"""Dates as people write them, and which character belongs to the day or the month.

A form is a template of Python's format language. Its fields, for 3 March 1998:

    {day}  {day:02}  {nth}                3  03  3rd
    {month}  {month:02}                   3  03
    {Month}  {Mon}  {MONTH}  {MON}        March  Mar  MARCH  MAR
    {year}  {yy}                          1998  98
    {Weekday}  {Wd}                       Tuesday  Tue

Names are English on every machine, whatever its locale. Machines write a date as
``date.isoformat()`` does: 1998-03-03 (ISO 8601).
"""

import datetime
import string
from typing import NamedTuple

# Of these dates, two digits of a year tell all four.
FIRST, LAST = datetime.date(1951, 1, 1), datetime.date(2050, 12, 31)
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
WEEKDAYS = (
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)
# Where a date is all numbers, the day stands first between dots, the month between
# slashes, the year where it has four digits.
FORMS = (
    "{Wd}, {day} {Month} {yy}",
    "the {nth} of {Month} {year}",
    "{day} {Month} {year}",
    "{Month} {day}, {year}",
    "{Weekday}, {Month} {day}, {year}",
    "{day} {Mon} {year}",
    "{Mon} {day}, {year}",
    "{day:02}-{MON}-{yy}",
    "{day}.{month}.{yy}",
    "{day:02}.{month:02}.{year}",
    "{month}/{day}/{yy}",
    "{month:02}/{day:02}/{year}",
    "{year}/{month:02}/{day:02}",
    "{Wd} {Mon} {day:02} {year}",
    "{nth} {Mon} '{yy}",
    "{Month} {nth}, {year}",
    "{Weekday} {day}.{month}.{year}",
    "{MONTH} {day} {year}",
)
_PART_OF = {
    **dict.fromkeys(("year", "yy"), "y"),
    **dict.fromkeys(("month", "Month", "Mon", "MONTH", "MON"), "m"),
    **dict.fromkeys(("day", "nth"), "d"),
    **dict.fromkeys(("Weekday", "Wd"), "w"),
}


class Written(NamedTuple):
    """A date in some form.

    Args:
        text: the date as it is written.
        parts: a string as long as the text, which says of each of its characters what
            it belongs to: "y", "m", "d" or "w" for year, month, day or weekday, and a
            space for none of them.
    """

    text: str
    parts: str


def every_date() -> list[datetime.date]:
    """All dates from FIRST to LAST, in order."""
    days = range((LAST - FIRST).days + 1)
    return [FIRST + datetime.timedelta(day) for day in days]


def write(date: datetime.date, form: str) -> Written:
    """Write a date in a form, without a locale.

    Args:
        date: a ``datetime.date`` from FIRST to LAST.
        form: one of ``FORMS``, or another template with a year, a month and a day.

    Returns:
        written: the text, and what each of its characters belongs to.

    Raises:
        ValueError: a date of another type or outside the range; a form with an unknown
            field, without a year, a month or a day, or that isn't a template.
    """
    if not isinstance(date, datetime.date) or isinstance(date, datetime.datetime):
        raise ValueError(f"date must be a datetime.date, got {date!r}")
    if not FIRST <= date <= LAST:
        raise ValueError(f"date must lie from {FIRST} to {LAST}, got {date}")
    values, text, parts = _fields(date), "", ""
    for literal, name, spec in _pieces(form):
        text += literal
        parts += " " * len(literal)
        if name:
            try:
                text += format(values[name], spec)
            except ValueError as error:
                raise ValueError(
                    f"form must be a template, got {form!r}: {error}"
                ) from None
            parts = parts.ljust(len(text), _PART_OF[name])
    return Written(text, parts)


def _fields(date: datetime.date) -> dict[str, int | str]:
    month, weekday = MONTHS[date.month - 1], WEEKDAYS[date.weekday()]
    return {
        "day": date.day,
        "nth": _ordinal(date.day),
        "month": date.month,
        "Month": month,
        "Mon": month[:3],
        "MONTH": month.upper(),
        "MON": month[:3].upper(),
        "year": date.year,
        "yy": f"{date.year % 100:02}",
        "Weekday": weekday,
        "Wd": weekday[:3],
    }


def _ordinal(day: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}th" if day in (11, 12, 13) else f"{day}{ending}"


def _pieces(form: str) -> list[tuple[str, str, str]]:
    """Literal text, the field behind it or "", and how that is formatted."""
    if not isinstance(form, str):
        raise ValueError(f"form must be a string, got {form!r}")
    try:
        parsed = list(string.Formatter().parse(form))
    except ValueError as error:
        raise ValueError(f"form must be a template, got {form!r}: {error}") from None
    pieces = [(literal, name or "", spec or "") for literal, name, spec, _ in parsed]
    names = [name for _, name, _, _ in parsed if name is not None]
    if converted := [conversion for *_, conversion in parsed if conversion]:
        raise ValueError(
            f"form must have fields without conversions, got '!{converted[0]}'"
        )
    if unknown := [name for name in names if name not in _PART_OF]:
        listed = ", ".join(_PART_OF)
        raise ValueError(f"form must have fields among {listed}, got {unknown[0]!r}")
    if lacking := {"y", "m", "d"} - {_PART_OF[name] for name in names}:
        raise ValueError(
            f"form must have a year, a month and a day, got {form!r}, "
            f"which lacks {', '.join(sorted(lacking))}"
        )
    return pieces
