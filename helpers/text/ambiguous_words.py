"""Sentences in which a word with two meanings stands near a word that tells them apart.

    We talked about the river and then about the bank.
    We talked about the loan and then about the bank.

The frame says nothing of the meaning, and another word fits into it as well: whatever
the vectors of "thing" do there, those of "bank" must do more, if its meaning is to
count.
"""

from typing import NamedTuple


class Sense(NamedTuple):
    """One meaning of a word.

    Attributes:
        clues: nouns that tell which meaning it is; the first six for choosing, the last
            six for testing.
        relatives: two nouns of that meaning that have no other.
        natural: three sentences with the word, in which a clue stands before it.
    """

    clues: tuple[str, ...]
    relatives: tuple[str, str]
    natural: tuple[str, str, str]


# The first five for choosing, the last five for testing.
FRAMES = (
    "We talked about the {0} and then about the {1}",
    "She wrote a story about the {0} and the {1}",
    "First he saw the {0}, and next to it was the {1}",
    "The book about the {0} has a page on the {1}",
    "Because of the {0}, everyone remembered the {1}",
    "There was the {0}, and there was also the {1}",
    "My brother knew the {0} well, but not the {1}",
    "In the picture, behind the {0}, you can see the {1}",
    "People who like the {0} often ask about the {1}",
    "It began with the {0} and it ended with the {1}",
)
# Words of one meaning, to be put into the same frames.
PLAIN_WORDS = ("thing", "place", "house", "story")


def _sense(clues: str, relatives: str, *natural: str) -> Sense:
    first, second = relatives.split()
    one, two, three = natural
    return Sense(tuple(clues.split()), (first, second), (one, two, three))


WORDS: dict[str, tuple[Sense, Sense]] = {
    "bank": (
        _sense(
            "river water boat stream fish island lake mud canoe flood bridge sand",
            "shore coast",
            "The boat drifted down the river until it touched the bank",
            "We swam across the stream and climbed up the bank",
            "The flood rose, and the water covered the bank",
        ),
        _sense(
            "money loan cash account credit debt "
            "savings mortgage salary payment customer dollar",
            "company treasury",
            "She needed a loan, so she went to the bank",
            "He put all the cash into his account at the bank",
            "To pay the debt, they borrowed money from the bank",
        ),
    ),
    "bat": (
        _sense(
            "cave wing owl insect night animal forest moth darkness nest tree blood",
            "bird rat",
            "At night, out of the dark cave flew a bat",
            "The owl caught an insect, and so did the bat",
            "With its thin wings, the animal in the cave was a bat",
        ),
        _sense(
            "ball player game team coach base league stadium score glove sport field",
            "stick pole",
            "The player waited for the ball and swung the bat",
            "The coach gave each player a glove and a bat",
            "He ran to first base and dropped the bat",
        ),
    ),
    "seal": (
        _sense(
            "sea fish ice penguin ocean beach shark wave island zoo coast boat",
            "whale dolphin",
            "On the ice by the sea lay a fat seal",
            "At the zoo, we saw a penguin and a seal",
            "The shark in the ocean chased the seal",
        ),
        _sense(
            "letter envelope document wax paper king "
            "office contract certificate lawyer ink license",
            "stamp signature",
            "The king closed the letter with wax and his seal",
            "The lawyer looked at the contract for the official seal",
            "On the envelope there was red wax with a seal",
        ),
    ),
    "spring": (
        _sense(
            "winter flower weather snow sunshine leaf "
            "garden rain month bird year calendar",
            "summer autumn",
            "After the long winter, the snow melted in the spring",
            "The flowers in the garden open in the spring",
            "The weather gets warm and the birds return in the spring",
        ),
        _sense(
            "metal wire machine steel engine mattress "
            "clock motor screw iron device pump",
            "coil lever",
            "Inside the old clock, the metal wheel hung on a spring",
            "He bent the steel wire to make a spring",
            "In the engine, the valve is pushed back by a spring",
        ),
    ),
    "pitcher": (
        _sense(
            "water milk glass kitchen juice table cup tea wine bowl lemon ice",
            "jug bottle",
            "She poured the milk into the glass from a pitcher",
            "On the kitchen table, next to the cups, stood a pitcher",
            "They mixed lemon juice and ice in a pitcher",
        ),
        _sense(
            "ball game team coach baseball fan league stadium score sport season field",
            "player athlete",
            "In the baseball game, the coach changed the pitcher",
            "The fans in the stadium cheered for the pitcher",
            "The team lost the season without its best pitcher",
        ),
    ),
    "match": (
        _sense(
            "fire candle smoke flame wood stove lamp cigarette ash fuel heat oven",
            "lighter torch",
            "To light the candle, she needed a match",
            "He wanted to smoke a cigarette, but he had no match",
            "The dry wood caught fire from a single match",
        ),
        _sense(
            "team player football coach goal stadium "
            "tennis league score referee fan opponent",
            "game contest",
            "The football team scored a goal and won the match",
            "The two tennis players were tired after the match",
            "The fans left the stadium before the end of the match",
        ),
    ),
    "crane": (
        _sense(
            "bird lake nest wing feather egg duck pond fox river beak marsh",
            "goose eagle",
            "In the nest by the lake, the bird with long legs was a crane",
            "The duck and the swan left the pond to the crane",
            "With its grey feathers and long beak, it was a crane",
        ),
        _sense(
            "building steel truck construction concrete worker "
            "tower bridge brick engine port site",
            "machine tractor",
            "The workers lifted the concrete to the roof with a crane",
            "On the construction site, the steel hung from a crane",
            "The heavy truck was lifted out of the ditch by a crane",
        ),
    ),
    "mouse": (
        _sense(
            "cat cheese cage tail hole barn trap owl nest corn farm snake",
            "rat rabbit",
            "The cat ran through the barn and caught a mouse",
            "The cheese in the trap was eaten by a mouse",
            "From the hole in the wall came the tail of a mouse",
        ),
        _sense(
            "computer screen laptop software desk video "
            "monitor internet printer program cable website",
            "keyboard icon",
            "To use the computer, you need a screen and a mouse",
            "She opened the program on the screen with the mouse",
            "The cable of the laptop lay on the desk with the mouse",
        ),
    ),
    "palm": (
        _sense(
            "beach island desert sand leaf coconut "
            "jungle garden coast shade forest sun",
            "tree oak",
            "On the beach of the island stood a tall palm",
            "A coconut fell into the sand from the palm",
            "In the desert, the only shade came from a palm",
        ),
        _sense(
            "finger wrist glove skin thumb arm elbow nail ring shoulder bone muscle",
            "hand fist",
            "He closed his fingers over the coin in his palm",
            "She took off her glove and touched the skin of his palm",
            "From the wrist to the thumb, a scar ran over his palm",
        ),
    ),
    "trunk": (
        _sense(
            "tree branch leaf forest wood root oak garden axe pine apple bird",
            "stem log",
            "The tree had many branches and a thick trunk",
            "With his axe, he cut a deep hole into the oak's trunk",
            "The leaves and roots of the old pine grew from its trunk",
        ),
        _sense(
            "car driver road wheel engine seat "
            "luggage garage truck highway tire vehicle",
            "hood bag",
            "The driver stopped the car and opened the trunk",
            "He took the spare wheel of the car out of the trunk",
            "Her luggage was on the back seat and in the trunk",
        ),
    ),
}
