"""Dates as people write them."""

import datetime
import locale

import pytest

from helpers.text import dates

DAY = datetime.date(1998, 3, 3)


def test_the_forms_of_one_date():
    assert [dates.write(DAY, form).text for form in dates.FORMS] == [
        "Tue, 3 March 98",
        "the 3rd of March 1998",
        "3 March 1998",
        "March 3, 1998",
        "Tuesday, March 3, 1998",
        "3 Mar 1998",
        "Mar 3, 1998",
        "03-MAR-98",
        "3.3.98",
        "03.03.1998",
        "3/3/98",
        "03/03/1998",
        "1998/03/03",
        "Tue Mar 03 1998",
        "3rd Mar '98",
        "March 3rd, 1998",
        "Tuesday 3.3.1998",
        "MARCH 3 1998",
    ]


def test_each_character_says_what_it_belongs_to():
    written = dates.write(DAY, "{Wd}, the {nth} of {Month} {yy}")
    assert written.text == "Tue, the 3rd of March 98"
    assert written.parts == "www      ddd    mmmmm yy"


def test_numbers_are_formatted_as_python_formats_them():
    assert dates.write(DAY, "{day:02}{month:03}{year}").text == "030031998"


@pytest.mark.parametrize(
    ("day", "ordinal"),
    [
        *((1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th")),
        *((13, "13th"), (21, "21st"), (22, "22nd"), (23, "23rd"), (30, "30th")),
    ],
)
def test_ordinals(day, ordinal):
    date = datetime.date(2001, 1, day)
    assert dates.write(date, "{nth} {Mon} {yy}").text == f"{ordinal} Jan 01"


def test_every_date_comes_once_and_in_order():
    every = dates.every_date()
    assert (every[0], every[-1]) == (dates.FIRST, dates.LAST)
    assert len(every) == 36_525
    assert every == sorted(set(every))


def test_no_text_stands_for_two_dates():
    """What is all numbers is told apart by its separators."""
    found = {}
    for date in dates.every_date()[::11]:
        for form in dates.FORMS:
            assert found.setdefault(dates.write(date, form).text, date) == date


def test_weekdays_and_months_are_english_in_every_locale():
    before = locale.setlocale(locale.LC_TIME)
    others = [name for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C") if _available(name)]
    try:
        for name in others:
            locale.setlocale(locale.LC_TIME, name)
            assert dates.write(DAY, "{Weekday} {day} {Month} {yy}").text == (
                "Tuesday 3 March 98"
            )
    finally:
        locale.setlocale(locale.LC_TIME, before)


def _available(name):
    before = locale.setlocale(locale.LC_TIME)
    try:
        locale.setlocale(locale.LC_TIME, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_TIME, before)
    return True


@pytest.mark.parametrize(
    ("date", "form", "match"),
    [
        (datetime.date(1950, 12, 31), "{day} {Mon} {yy}", "date must lie from 1951"),
        (datetime.date(2051, 1, 1), "{day} {Mon} {yy}", "date must lie from 1951"),
        ("1998-03-03", "{day} {Mon} {yy}", "date must be a datetime.date"),
        (datetime.datetime(1998, 3, 3), "{day} {Mon} {yy}", "must be a datetime.date"),
        (DAY, "{day} {Mon}", "which lacks y"),
        (DAY, "in {year}", "which lacks d, m"),
        (DAY, "{day} {Maerz} {yy}", "got 'Maerz'"),
        (DAY, "{} {Mon} {yy}", "got ''"),
        (DAY, "{day {Mon} {yy}", "form must be a template"),
        (DAY, 3, "form must be a string"),
    ],
)
def test_bad_input_is_named(date, form, match):
    with pytest.raises(ValueError, match=match):
        dates.write(date, form)
