"""Text as tokens of several characters, for models that others have trained.

The library ``tokenizers`` does the work; what is decided here is that a reader's text
never turns into a special token, and how a chat is written.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from helpers import validation

# A chat's special tokens: before a message, behind it; and what is said first, unless
# a system message is given.
CHAT_TEMPLATES: Mapping[str, tuple[str, str, str | None]] = {
    "chatml": ("<|im_start|>", "<|im_end|>", None),
    "smollm2": (
        "<|im_start|>",
        "<|im_end|>",
        "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
    ),
}
ROLES = ("system", "user", "assistant")


class SubwordTokenizer:
    """A tokenizer of a pretrained model: text to token ids and back.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``. Its post-processor says which special
            tokens the model wants before and behind each text, such as [CLS] and [SEP].

    Attributes:
        vocab_size: how many tokens there are.
        special_tokens: a dict from each special token's text to its id. In a text that
            is encoded, such words are text like any other.

    Source: Sennrich et al. 2016, section 3.2, for byte-pair encoding. By hand in
    chapter 17.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer
        # What looks like a special token in a text is text.
        tokenizer.encode_special_tokens = True
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.vocab_size: int = tokenizer.get_vocab_size()
        added = tokenizer.get_added_tokens_decoder()
        self.special_tokens = {
            token.content: i for i, token in added.items() if token.special
        }

    @classmethod
    def from_merges(
        cls,
        tokens: Sequence[str],
        merges: Iterable[tuple[str, str]],
        *,
        special: Iterable[str] = (),
        split_digits: bool = False,
    ) -> "SubwordTokenizer":
        """A byte-level byte-pair encoding, as GPT-2 has it.

        Args:
            tokens: the vocabulary, in the order of ids; bytes are written as GPT-2's
                printable characters.
            merges: pairs of tokens that are merged, the most urgent first.
            special: which of the tokens are special.
            split_digits: give each digit a token of its own, as SmolLM2 does.

        Returns:
            tokenizer: a SubwordTokenizer.

        Raises:
            ValueError: a merge of tokens that aren't there.

        Source: Radford et al. 2019, section 2.2.
        """
        ids = {token: i for i, token in enumerate(tokens)}
        try:
            inner = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=list(merges)))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(
                f"merges must join tokens that are there: {error}"
            ) from error
        in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False)
        digits = pre_tokenizers.Digits(individual_digits=True)
        steps = [digits, in_bytes] if split_digits else [in_bytes]
        inner.pre_tokenizer = pre_tokenizers.Sequence(steps)
        inner.decoder = decoders.ByteLevel()
        inner.add_special_tokens(list(special))
        return cls(inner)

    def encode(self, text: str) -> list[int]:
        """Turn a text into token ids, with what the model wants before and behind it.

        Args:
            text: a string, which may be empty.

        Returns:
            ids: a list of whole numbers from 0 to vocab_size - 1.

        Raises:
            ValueError: a text that isn't a string, or holds half a surrogate pair.
        """
        return list(self._tokenizer.post_process(self._encoding(text)).ids)

    def decode(self, ids: Iterable[int]) -> str:
        """Turn ids back into text.

        Args:
            ids: whole numbers from 0 to vocab_size - 1, in any iterable or in an
                integer tensor (T,). Special tokens are written out.

        Returns:
            text: one string. Bytes that make no character, such as the first half of an
                emoji, become U+FFFD.

        Raises:
            ValueError: an id outside that range, or what isn't a row of whole numbers.
        """
        return str(
            self._tokenizer.decode(self._checked(ids), skip_special_tokens=False)
        )

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """What each token stands for, alone, such as a word with the space before it.

        Args:
            ids: as for ``decode``.

        Returns:
            texts: a string for each id; their sum is the text where no character is
                spread over several tokens.

        Raises:
            ValueError: as for ``decode``.
        """
        return [self.decode([one]) for one in self._checked(ids)]

    def token_id(self, token: str) -> int:
        """The id of a token as the vocabulary writes it, such as ``<|im_end|>``.

        Raises:
            ValueError: a token that isn't there.
        """
        found = self._tokenizer.token_to_id(token) if isinstance(token, str) else None
        if found is None:
            raise ValueError(f"token must be in the vocabulary, got {token!r}")
        return int(found)

    def encode_chat(
        self, messages: Sequence[tuple[str, str]], *, template: str = "smollm2"
    ) -> list[int]:
        """Write a chat as a model of that template was trained to read it.

        A message is the token that opens it, its role and a newline, its text, and the
        token that closes it. What the model writes behind the last line is its answer.

        Args:
            messages: pairs of a role ("system", "user" or "assistant") and a text.
            template: "smollm2", or "chatml", the same without SmolLM2's own system
                message.

        Returns:
            ids: a list of whole numbers.

        Raises:
            ValueError: an unknown template or role, no message, or a tokenizer without
                the template's special tokens.
        """
        if template not in CHAT_TEMPLATES:
            raise ValueError(
                f"template must be one of {list(CHAT_TEMPLATES)}, got {template!r}"
            )
        opening, closing, system = CHAT_TEMPLATES[template]
        messages = [self._message(i, message) for i, message in enumerate(messages)]
        if not messages:
            raise ValueError("messages must hold at least one message, got none")
        if system is not None and messages[0][0] != "system":
            messages = [("system", system), *messages]
        ids: list[int] = []
        for role, text in messages:
            ids.append(self.token_id(opening))
            ids += self._plain(f"{role}\n{text}")
            ids.append(self.token_id(closing))
            ids += self._plain("\n")
        return [*ids, self.token_id(opening), *self._plain("assistant\n")]

    def _plain(self, text: str) -> list[int]:
        return list(self._encoding(text).ids)

    def _encoding(self, text: str) -> tokenizers.Encoding:
        if not isinstance(text, str):
            raise ValueError(f"text must be a string, got {type(text).__name__}")
        half = re.search("[\ud800-\udfff]", text)
        if half:
            raise ValueError(
                f"text must be Unicode, got {half[0]!r} at position {half.start()}"
            )
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _checked(self, ids: Iterable[int]) -> list[int]:
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
        if isinstance(ids, str) or not hasattr(ids, "__iter__"):
            raise ValueError(
                "ids must be a list of whole numbers or an integer tensor (T,), "
                f"got {ids!r}"
            )
        found = list(ids)
        for position, one in enumerate(found):
            if not validation.is_whole(one) or not 0 <= one < self.vocab_size:
                raise ValueError(
                    f"ids must be integers from 0 to {self.vocab_size - 1}, got "
                    f"{one!r} at position {position}"
                )
        return [int(one) for one in found]

    def _message(self, position: int, message: tuple[str, str]) -> tuple[str, str]:
        pair = isinstance(message, tuple) and len(message) == 2
        if not pair or message[0] not in ROLES or not isinstance(message[1], str):
            raise ValueError(
                f"messages must be pairs of a role, one of {list(ROLES)}, and a text; "
                f"got {message!r} at position {position}"
            )
        return message
