"""Sentences in which a name that nobody has heard of is said twice.

Nothing but the first mention tells how the second one goes on, because the names are
made up. A model that finishes the second one has read the first. The sentences stop
with the second mention.
"""

from typing import NamedTuple

from helpers import validation

# The first half of each list is to look at, the second to test on.
TEMPLATES = (
    "The committee gave the first prize to {}, and the local paper printed a long "
    "article about {}",
    "When the ship reached the harbour, a doctor named {} came aboard. The captain had "
    "written to {}",
    "A letter arrived for {} on Monday morning. Nobody in the office had heard of {}",
    "My grandmother often told us about {}, who lived by the mill. One winter the "
    "whole village went to look for {}",
    "The museum bought three paintings by {} last year. Critics had long ignored the "
    "work of {}",
    "In the meeting we thanked {} for the report. Afterwards the director shook hands "
    "with {}",
    "The police are looking for {}, who was last seen at the station. They will pay "
    "anyone who finds {}",
    "Our new teacher is called {}. The children quickly learned to trust {}",
    "The garden behind the house once belonged to {}. Its oldest roses were planted by "
    "{}",
    "At the end of the concert the audience applauded {}. The conductor bowed and "
    "pointed at {}",
    "We sold the farm to {} in the spring. By autumn everyone was complaining about {}",
    "The bridge was designed by {}, an engineer from the north. A small statue in the "
    "park shows {}",
    "Every evening the old fisherman played chess with {}. He never managed to win "
    "against {}",
    "The court heard two witnesses before it called {}. The judge then asked the "
    "lawyers to question {}",
    "Her first novel was dedicated to {}. Ten years later she wrote another book about "
    "{}",
    "A rich merchant left his library to {}. The city offered to buy the books from {}",
)
NAMES = (
    *("Zorvath Melquin", "Brelundo Kaspeth", "Quillor Dravenfeld", "Tamzin Ochterlow"),
    *("Yevrick Saltoun", "Orsipha Glenwick", "Havrel Ponduska", "Milbrenna Tosk"),
    *("Drustan Velikor", "Ephrath Quellman", "Jorunda Skarsbry", "Wenzel Iptovar"),
    *("Calvix Thornbeam", "Ulmeria Fosk", "Petravin Osgrel", "Sibrand Nuvolet"),
    *("Kethran Aldovine", "Moriska Belthane", "Faldric Ungstrom", "Ristova Pemberlach"),
    *("Gundrel Ivashko", "Lirabeth Corwyck", "Ostrick Vandeloo", "Nymira Heskwith"),
    *("Bravik Tolomere", "Xandrel Muirhope", "Thessira Quornby", "Aldwyke Ferrant"),
    *("Jasmond Okrelli", "Corvina Stelzig", "Pellidor Wroxham", "Edrika Lomaskov"),
)


class Repeated(NamedTuple):
    """A sentence that says a name twice.

    Attributes:
        text: the sentence, up to the end of the second mention.
        name: the name, with the space before it.
        template: which one of ``TEMPLATES``.
        other: the same sentence, whose first mention is another name.
    """

    text: str
    name: str
    template: int
    other: str


def repeated_names(*, test: bool) -> list[Repeated]:
    """64 sentences: each of eight templates with eight of sixteen names.

    Args:
        test: those to test on, which share no template and no name with the others.

    Returns:
        sentences: a list of ``Repeated``, by template.

    Raises:
        ValueError: ``test`` is no boolean.
    """
    validation.require_booleans(test=test)
    half = len(TEMPLATES) // 2
    begin, names = half * test, NAMES[len(NAMES) // 2 * test :][: len(NAMES) // 2]
    sentences = []
    for template in range(begin, begin + half):
        for i in range(template % 2, len(names), 2):
            name, other = names[i], names[(i + 1) % len(names)]
            said = TEMPLATES[template].format
            sentences.append(
                Repeated(said(name, name), f" {name}", template, said(other, name))
            )
    return sentences
