"""Frames in which "it" or "he" decides which of two nouns is meant.

Those of half 0 were looked at first, those of half 1 written before they were run.
"""

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
