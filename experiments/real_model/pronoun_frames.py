"""Frames in which no verb decides which of two nouns "it" is.

Those of half 0 were looked at first, those of half 1 written before they were run.
"""

# The first noun is the subject or object, the second stands behind a preposition; the
# same with the second first; a thing that does something to another; the same passive.
ROLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "object, preposition": (
        (
            "Tom put the {} behind the {}. Anna liked it",
            "We moved the {} near the {}. Tom found it",
            "Peter saw the {} on the {}. Anna liked it",
        ),
        (
            "Tom left the {} beside the {}. Mary knew it",
            "They carried the {} past the {}. David noticed it",
            "My sister kept the {} under the {}. Tom wanted it",
            "She noticed the {} with the {}. Peter needed it",
        ),
    ),
    "preposition, object": (
        (
            "Behind the {} Tom put the {}. Anna liked it",
            "Near the {} we saw the {}. Tom found it",
            "On the {} Peter placed the {}. Anna liked it",
        ),
        (
            "Beside the {} Tom left the {}. Mary knew it",
            "Past the {} they carried the {}. David noticed it",
            "Under the {} my sister kept the {}. Tom wanted it",
            "With the {} she noticed the {}. Peter needed it",
        ),
    ),
    "subject, object": (
        (
            "The {} touched the {}. Anna liked it",
            "The {} hid the {}. Anna liked it",
            "The {} damaged the {}. Tom found it",
        ),
        (
            "The {} covered the {}. Mary knew it",
            "The {} hit the {}. David noticed it",
            "The {} followed the {}. Tom wanted it",
            "The {} blocked the {}. Peter needed it",
        ),
    ),
    "subject, by": (
        (
            "The {} was touched by the {}. Anna liked it",
            "The {} was hidden by the {}. Anna liked it",
            "The {} was damaged by the {}. Tom found it",
        ),
        (
            "The {} was covered by the {}. Mary knew it",
            "The {} was hit by the {}. David noticed it",
            "The {} was followed by the {}. Tom wanted it",
            "The {} was blocked by the {}. Peter needed it",
        ),
    ),
}
# A person and a thing, in both orders; the words for the thing and for the person.
KINDS: tuple[tuple[tuple[str, str, str], ...], tuple[tuple[str, str, str], ...]] = (
    (
        ("The {person} bought the {thing}. Anna liked", "it", "him"),
        ("Near the {thing} the {person} waited. Anna liked", "it", "him"),
        ("The {person} carried the {thing} home. Then", "it", "he"),
        ("The {thing} was next to the {person}.", "It", "He"),
    ),
    (
        ("The {person} looked at the {thing}. Then", "it", "he"),
        ("Behind the {thing} stood the {person}. Anna liked", "it", "him"),
        ("The {thing} belonged to the {person}.", "It", "He"),
        ("The {person} needed the {thing}. Mary saw", "it", "him"),
        ("With the {thing} came the {person}. Mary forgot", "it", "him"),
        ("Tom talked to the {person} about the {thing}.", "It", "He"),
    ),
)
THINGS = (
    "bread cake pizza book letter hat coat shirt car truck guitar",
    "rice pie poem diary jacket suit wagon bike piano bell shrub",
)
PERSONS = (
    "teacher doctor farmer king soldier uncle",
    "father pilot judge prince sailor brother",
)
