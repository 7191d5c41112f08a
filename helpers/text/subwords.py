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
        vocab_size: the highest id + 1.
        special_tokens: a dict from each special token's text to its id. A text never
            turns into one of them, except into the one for what is unknown, such as
            [UNK]: most tokenizers read such words as text like any other, and a text
            that would turn into one all the same is refused.

    Raises:
        ValueError: something else than a ``tokenizers.Tokenizer``.

    Source: Sennrich et al. 2016, section 3.2, for byte-pair encoding. By hand in
    chapter 17.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        validation.require_type("tokenizer", tokenizer, tokenizers.Tokenizer)
        # A copy: the caller's stays as it was.
        tokenizer = self._tokenizer = tokenizers.Tokenizer.from_str(tokenizer.to_str())
        # What looks like a special token in a text is text.
        tokenizer.encode_special_tokens = True
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.vocab_size: int = max(tokenizer.get_vocab().values(), default=-1) + 1
        added = tokenizer.get_added_tokens_decoder()
        self.special_tokens = {
            token.content: i for i, token in added.items() if token.special
        }
        unknown = getattr(tokenizer.model, "unk_token", None)
        self._forbidden = {
            i: token for token, i in self.special_tokens.items() if token != unknown
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
                printable characters. A byte that has no token there vanishes from every
                text, as it does in llama.cpp: SmolLM2 lacks 21 of the 256.
            merges: pairs of tokens that are merged, the most urgent first.
            special: which of the tokens are special.
            split_digits: give each digit a token of its own, as SmolLM2 does.

        Returns:
            tokenizer: a SubwordTokenizer.

        Raises:
            ValueError: a merge or a special token of what isn't there; a token that is
                there twice; one string in place of several.

        Source: Radford et al. 2019, section 2.2.
        """
        special = _strings("special", special)
        ids = {token: i for i, token in enumerate(_strings("tokens", tokens))}
        if len(ids) < len(tokens):
            twice = next(one for i, one in enumerate(tokens) if ids[one] != i)
            raise ValueError(f"tokens must hold each token once, got {twice!r} twice")
        for token in special:
            if token not in ids:
                raise ValueError(f"special must hold some of tokens, got {token!r}")
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
        inner.add_special_tokens(special)
        return cls(inner)

    def encode(self, text: str) -> list[int]:
        """Turn a text into token ids, with what the model wants before and behind it.

        Args:
            text: a string, which may be empty.

        Returns:
            ids: a list of whole numbers from 0 to vocab_size - 1.

        Raises:
            ValueError: a text that isn't a string, holds half a surrogate pair, or
                would turn into a special token.
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
            texts: a string for each id. With bytes as GPT-2 has them, their sum is the
                text where no character is spread over several tokens; MiniLM's pieces
                have no spaces, and ## before what goes on with a word.

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
            ValueError: an unknown template or role, no message, a tokenizer without the
                template's special tokens, or a text that ``encode`` refuses.
        """
        if not isinstance(template, str) or template not in CHAT_TEMPLATES:
            raise ValueError(
                f"template must be one of {list(CHAT_TEMPLATES)}, got {template!r}"
            )
        validation.require_type("messages", messages, list, tuple)
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
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        for i in encoding.ids:
            if i in self._forbidden:
                raise ValueError(
                    "text must not turn into a special token, got "
                    f"{self._forbidden[i]!r} from {text!r:.60}"
                )
        return encoding

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


def _strings(name: str, given: Iterable[str]) -> list[str]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise ValueError(f"{name} must be several strings, got {given!r:.60}")
    found = list(given)
    for one in found:
        if not isinstance(one, str):
            raise ValueError(f"{name} must be strings, got {one!r}")
    return found
