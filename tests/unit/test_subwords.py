"""Tokens of several characters: what a text becomes, and what it never becomes."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from helpers.text.subwords import SubwordTokenizer

# The bytes as GPT-2 writes them: a space is Ġ, a newline Ċ.
LETTERS = ["<|im_start|>", "<|im_end|>", *"adehilmnrsttuwy<|>_#01".replace("tt", "t")]
MERGES = [("h", "e"), ("l", "l"), ("he", "ll"), ("Ġ", "hell"), ("1", "0")]


@pytest.fixture
def tokenizer():
    tokens = [*LETTERS, "o", "Ġ", "Ċ", *("".join(merge) for merge in MERGES)]
    return SubwordTokenizer.from_merges(
        tokens, MERGES, special=LETTERS[:2], split_digits=True
    )


def test_merges_are_applied_in_order(tokenizer):
    ids = tokenizer.encode("hello hello")
    assert tokenizer.pieces(ids) == ["hell", "o", " hell", "o"]
    assert tokenizer.decode(ids) == "hello hello"
    assert tokenizer.encode("") == []


def test_each_digit_is_a_token(tokenizer):
    assert tokenizer.pieces(tokenizer.encode("100")) == ["1", "0", "0"]


def test_a_text_never_holds_a_special_token(tokenizer):
    ids = tokenizer.encode("<|im_end|>")
    assert len(ids) > 1
    assert not set(ids) & set(tokenizer.special_tokens.values())
    assert tokenizer.decode(ids) == "<|im_end|>"


def test_a_chat_opens_and_closes_each_message(tokenizer):
    ids = tokenizer.encode_chat([("user", "hello <|im_end|>")], template="chatml")
    start, end = (tokenizer.token_id(one) for one in LETTERS[:2])
    assert [one for one in ids if one in (start, end)] == [start, end, start]
    assert tokenizer.decode(ids) == (
        "<|im_start|>user\nhello <|im_end|><|im_end|>\n<|im_start|>assistant\n"
    )


def test_smollms_own_words_come_first_unless_others_are_given():
    tokens = [*LETTERS[:2], *map(chr, range(33, 127)), "Ġ", "Ċ"]
    tokenizer = SubwordTokenizer.from_merges(tokens, [], special=LETTERS[:2])
    text = tokenizer.decode(tokenizer.encode_chat([("user", "Hi")]))
    assert text.startswith("<|im_start|>system\nYou are a helpful AI assistant named")
    chat = [("system", "Be short."), ("user", "Hi"), ("assistant", "Yes?")]
    text = tokenizer.decode(tokenizer.encode_chat([*chat, ("user", "No.")]))
    assert text.startswith("<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user")
    assert text.endswith("<|im_start|>user\nNo.<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.encode(3), "text must be a string, got int"),
        (lambda t: t.encode("a\ud800"), r"text must be Unicode, got '\\ud800' at po"),
        (lambda t: t.decode([0, 99]), r"from 0 to \d+, got 99 at position 1"),
        (lambda t: t.decode("12"), "ids must be a list of whole numbers"),
        (lambda t: t.decode([True]), "got True at position 0"),
        (lambda t: t.token_id("<|end|>"), r"in the vocabulary, got '<\|end\|>'"),
        (lambda t: t.encode_chat([]), "at least one message"),
        (lambda t: t.encode_chat([("bot", "Hi")]), r"\('bot', 'Hi'\) at position 0"),
        (
            lambda t: t.encode_chat([("user", "a")], template="x"),
            "template must be one",
        ),
        (
            lambda t: t.encode_chat([("user", "a")], template=[]),
            "template must be one",
        ),
        (lambda t: t.encode_chat(None), "messages must be a list or tuple, got None"),
        (lambda _: SubwordTokenizer(None), "tokenizer must be a Tokenizer, got None"),
    ],
)
def test_bad_input_is_named(tokenizer, call, message):
    with pytest.raises(ValueError, match=message):
        call(tokenizer)


def words(*extra):
    """A tokenizer of words, as a tokenizer.json may hold one."""
    names = ["[UNK]", "[CLS]", "[SEP]", "a", "b", *extra]
    ids = {name: i for i, name in enumerate(names)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(names[:3])
    return tokenizer


@pytest.mark.parametrize(
    ("template", "expected"),
    [("[CLS] $A", [1, 3, 4]), ("[CLS] $A [SEP]", [1, 3, 4, 2]), ("$A", [3, 4])],
)
def test_the_files_post_processor_says_what_stands_around_a_text(template, expected):
    tokenizer = words()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    assert SubwordTokenizer(tokenizer).encode("a b") == expected


def test_a_chat_has_nothing_around_its_parts():
    tokenizer = words("<|im_start|>", "<|im_end|>", "user", "assistant")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 1)]
    )
    chat = SubwordTokenizer(tokenizer).encode_chat([("user", "a")], template="chatml")
    assert chat == [5, 7, 3, 6, 5, 8]


def test_neither_padding_nor_truncation_of_a_file_is_used():
    tokenizer = words()
    tokenizer.enable_padding(length=4)
    tokenizer.enable_truncation(2)
    assert SubwordTokenizer(tokenizer).encode("a") == [3]
    assert SubwordTokenizer(tokenizer).encode("a b a") == [3, 4, 3]


def test_a_text_that_would_turn_into_a_special_token():
    merged = SubwordTokenizer.from_merges(
        ["a", "b", "ab"], [("a", "b")], special=["ab"]
    )
    with pytest.raises(ValueError, match="into a special token, got 'ab' from 'ab'"):
        merged.encode("ab")
    with pytest.raises(ValueError, match=r"special token, got '\[CLS\]' from 'a \["):
        SubwordTokenizer(words()).encode("a [CLS]")
    # What is unknown has no other token.
    assert SubwordTokenizer(words()).encode("a c") == [3, 0]


def test_ids_with_a_gap():
    inner = Tokenizer(models.WordLevel({"a": 0, "b": 99}, unk_token="a"))  # noqa: S106
    tokenizer = SubwordTokenizer(inner)
    assert tokenizer.vocab_size == 100
    assert tokenizer.decode(tokenizer.encode("b")) == "b"


def test_the_callers_tokenizer_stays_as_it_was():
    tokenizer = words()
    tokenizer.enable_padding(length=4)
    before = tokenizer.to_str()
    SubwordTokenizer(tokenizer)
    assert tokenizer.to_str() == before
    assert not tokenizer.encode_special_tokens


def test_bytes_without_a_token_vanish():
    assert SubwordTokenizer.from_merges(["a", "b"], []).encode("xay") == [0]


def test_digits_stay_together_unless_they_are_split():
    tokenizer = SubwordTokenizer.from_merges(["1", "0", "10"], [("1", "0")])
    assert tokenizer.encode("10") == [2]


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        (["a", "b"], {"special": ["<s>"]}, "special must hold some of tokens, got '<s"),
        (["a", "b", "ab"], {"special": "ab"}, "special must be several strings, got"),
        (["a", "b", "a"], {}, "tokens must hold each token once, got 'a' twice"),
        (["a", 3], {}, "tokens must be strings, got 3"),
        (None, {}, "tokens must be several strings, got None"),
        ("ab", {}, "tokens must be several strings, got 'ab'"),
    ],
)
def test_vocabularies_that_are_none(tokens, options, message):
    with pytest.raises(ValueError, match=message):
        SubwordTokenizer.from_merges(tokens, [], **options)


def test_merges_of_what_is_not_there():
    with pytest.raises(ValueError, match="merges must join tokens"):
        SubwordTokenizer.from_merges(["a", "b"], [("a", "c")])
