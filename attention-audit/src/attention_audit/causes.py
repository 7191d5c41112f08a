"""What a check that fails would mean in use, and its likeliest causes."""

from typing import NamedTuple


class Told(NamedTuple):
    """What a failure would mean, and its two likeliest causes."""

    means: str
    causes: tuple[str, str]


# By words in a reason.
PARTS: dict[str, Told] = {
    "^in train mode, the gradient of": Told(
        "training goes another way than downhill, and no error says so",
        (
            "a checkpoint that draws anew in backward: `preserve_rng_state=False`",
            "a backward of its own, or `.detach()`, in train mode alone",
        ),
    ),
    "^in train mode, tokens": Told(
        "what is trained reads on, and isn't what is used afterwards",
        (
            "a batch norm, whose statistics take in all tokens",
            "a branch on `self.training` that leaves the mask out",
        ),
    ),
    "^in train mode|train mode differs|after a call in train mode": Told(
        "what is trained isn't what is used afterwards",
        (
            "a branch on `self.training` that does more than drop",
            "a second path for training whose mask, scale or groups differ",
        ),
    ),
    "after a call in eval mode": Told(
        "whoever evaluates once trains without dropout, or otherwise, from then on",
        (
            "a probability set to 0 in eval mode and never set back",
            "something kept from the first call in eval mode",
        ),
    ),
    "after a call in|loaded after a call|after a call with": Told(
        "results depend on what was called before",
        (
            "a mask, a table or weights kept in an attribute by the first call",
            "what is kept is looked up without its length, dtype, device or weights",
        ),
    ),
    "can't be copied": Told(
        "no average of weights, no snapshot: whatever copies the model stops",
        (
            "weights or scores kept in an attribute for a look, without `.detach()`",
            "something else of the call that is kept, with its graph",
        ),
    ),
    "isn't in the state dict": Told(
        "a saved model is loaded as another one, and no error says so",
        (
            "`persistent=False` for a buffer that is drawn and not computed",
            "a drawn tensor that is a plain attribute",
        ),
    ),
    "state isn't that of": Told(
        "a saved model can't be loaded once it was called",
        (
            "`register_buffer` in `forward`, without `persistent=False`",
            "a parameter made in the first call",
        ),
    ),
    "small steps": Told(
        "training goes another way than downhill, and no error says so",
        (
            "`.detach()`, `.data` or `no_grad` around what matters, such as a sum",
            "a backward of its own that forgets a factor, such as 1 / (1 - p)",
        ),
    ),
    "without a transposition|in one row": Told(
        "tokens see other tokens beside all weights, and no mask stops that",
        (
            "`reshape` or `view` where `transpose(1, 2)` must come first",
            "an axis order that another library has, (B, T, H, D) and (B, H, T, D)",
        ),
    ),
    "equal tokens give|its only weight": Told(
        "an average isn't one: its size changes with the number of tokens or the score",
        (
            "a denominator that isn't the sum of the weights: of all heads, or of "
            "blocks that weren't rescaled",
            "keys that are no tokens: zeros by `pad` or `unfold` that aren't masked; "
            "or heads and tokens mixed",
        ),
    ),
    "left padding with a cache": Told(
        "texts in a batch go on otherwise than alone",
        (
            "positions counted from the first place, not from the first real token",
            "a mask for the new tokens alone, without the cache's padding",
        ),
    ),
    "^step must return": Told(
        "nothing was asked of the layer: the function for it returns something else",
        (
            "a step without `return context, cache`",
            "a layer that keeps its cache inside: hand that out, or any value",
        ),
    ),
    "^two ways to go on": Told(
        "beam search and shared prompts read one another's tokens",
        (
            "room for all tokens, into which each step writes",
            "`append` or an assignment in place on the cache that came in",
        ),
    ),
    "^in bfloat16": Told(
        "generation stops, or goes otherwise, in the dtype in which models are used",
        (
            "a cache made without `dtype=`",
            "keys lifted to float32 before they are kept, queries not",
        ),
    ),
    "the cache holds": Told(
        "a long text goes wrong once the cache is full",
        (
            "a position counted by the rows of the cache, not by the tokens so far",
            "a cache cut to fewer tokens than the window reads",
        ),
    ),
    "^tokens times": Told(
        "what is right for small tokens is wrong for those that stand out",
        (
            "a cap or a norm of scores that one of two paths leaves out",
            "scores that overflow, or a mask that isn't low enough",
        ),
    ),
    "sum to 0|feature of 0": Told(
        "real tokens are taken for padding: behind a layer norm all sum to 0",
        (
            "a mask made from a sum of features",
            "a mask made from one feature, or from x != 0",
        ),
    ),
    "of zeros|all zeros": Told(
        "an empty frame or a dropped token is hidden, or gives NaN",
        (
            "a mask made where a score or a token is 0, as by `tril` and `== 0`",
            "a division by a token's own norm, without an epsilon",
        ),
    ),
    "is rounding": Told(
        "each token is left with its own value, however it weighs the others",
        (
            "an einsum that sums weights and not values, one letter wrong",
            "values taken at the query's place",
        ),
    ),
    "^a call in .* turns": Told(
        "one evaluation in low precision rounds the weights for good",
        ("`self.to(x.dtype)` in `forward`", "`self.half()` in `forward`"),
    ),
    "^called, then moved": Told(
        "a model that was tried out stops once it is moved to the GPU",
        (
            "a mask or table kept by the first call in an attribute, no buffer",
            "what is kept is looked up by its length and not by its device",
        ),
    ),
    "^a document alone": Told(
        "a text that is packed with others is read otherwise",
        (
            "the documents' mask in place of the causal one, where both must hold",
            "positions that go on over a border, or count what stands before it",
        ),
    ),
    "document": Told(
        "packed texts read one another",
        (
            "no mask for documents, or ids compared along the wrong axis, by >= or by "
            "those of the first sequence",
            "a state, a running sum or a denominator not set back at a border",
        ),
    ),
    "^a mask that hides nothing": Told(
        "a text gives something else as soon as a mask is passed",
        (
            "the padding mask in place of the causal one, where both must hold",
            "a mask read the other way round",
        ),
    ),
    "^with padding, .* not finite": Told(
        "one short text in a batch makes all weights NaN",
        (
            "rows that see nothing, at −∞ everywhere: mended in the output by "
            "`nan_to_num`, not in the gradients",
            "a division by a number of real tokens that is 0",
        ),
    ),
    "^the caller's x": Told(
        "the residual stream of whoever calls is overwritten",
        ("`x[~real] = 0` or `x.masked_fill_`", "an operation in place on a view of x"),
    ),
    "backward stops": Told(
        "the layer can't be trained",
        (
            "what is kept for backward overwritten: `inplace=True`, `mul_`",
            "a tensor of one call that is used in the next",
        ),
    ),
    "none depends on a later one": Told(
        "what was to be read from both sides is read from one",
        (
            "a causal mask left on: `is_causal=True`, or a buffer of a decoder",
            "a bias of distances that hides what is ahead",
        ),
    ),
    "itself alone": Told(
        "tokens don't read one another",
        (
            "an axis in the wrong place: attention over heads or over the batch",
            "a mask that leaves the diagonal alone",
        ),
    ),
    "alone, any two tokens": Told(
        "what a token holds doesn't come through",
        (
            "a mean over tokens, taken off values and not added again",
            "rows cut off at the wrong end: each position gets another one's context",
        ),
    ),
    "reads token .* the window": Told(
        "more is read than declared, and a cache that evicts goes on otherwise",
        (
            "a window's mask off by one, or missing in one path",
            "whole blocks in place of a window, or `roll`, which wraps round",
        ),
    ),
    "features that were tried": Told(
        "a head is blind to most of a token",
        (
            "features split into heads before the projection",
            "one small projection shared by all heads",
        ),
    ),
    "refuses float16 and not": Told(
        "it can't be trained or run in float16",
        (
            "a mask of -1e9, which only wider dtypes have",
            "another constant above 65,504: `torch.finfo(scores.dtype).min` fits",
        ),
    ),
    "another dtype in the middle": Told(
        "it can't be trained or run in 16 bits",
        (
            "a mask, a bias or positions made without `dtype=`, or no buffer",
            "a part lifted to float32, and not brought back before a product",
        ),
    ),
    "have the other sign": Told(
        "what is farther away counts more, and the next token least",
        (
            "the bias added where it must be taken off",
            "distances counted as key less query in one place, as query less key in "
            "another",
        ),
    ),
    r"with \d+ tokens, not \d+": Told(
        "what was learned about a distance holds for one length only",
        (
            "a shift of rows that a causal mask alone makes right",
            "buckets or tables spread over the sequence, not over all distances",
        ),
    ),
    "norm over all heads": Told(
        "heads aren't free of one another",
        (
            "a norm behind the split, over the axis of heads",
            "a norm before `transpose(1, 2)` that was meant for behind it",
        ),
    ),
    "is added to what": Told(
        "what one projection learns moves the others",
        (
            "one `nn.Parameter` given to several linear layers",
            "a layer used twice where a second one was meant",
        ),
    ),
    "are projected from the": Told(
        "two of three roles aren't made of the same tokens",
        (
            "a norm that queries pass, and keys or values don't",
            "one projection given another one's result",
        ),
    ),
    "^of 40 tokens": Told(
        "a long text is trained on with its future in sight",
        (
            "a path of its own for long texts that leaves the mask out, or uses one "
            "block's for all",
            "blocks compared by their first position, not by their own",
        ),
    ),
}

CAUSES: dict[str, Told] = {
    "output shape": Told(
        "nothing else can be asked",
        ("a size that doesn't fit", "a position that may attend to nothing: NaN"),
    ),
    "short sequences": Told(
        "a prompt gives something else than the same text in a longer one",
        ("a mask not cut to `[:T, :T]`", "positions counted from the end"),
    ),
    "one token": Told(
        "generation from a single token goes wrong",
        ("`squeeze()` drops the axis of 1", "a mask that broadcasts"),
    ),
    "empty batch": Told(
        "the last, empty share of a batch becomes something else",
        ("a batch size worked out with -1", "a batch size kept from before"),
    ),
    "future changed": Told(
        "in training it copies the next token, and can't in use",
        ("no mask, or one turned round", "a norm, mean or denominator over all tokens"),
    ),
    "future grads": Told(
        "in training it copies the next token, and can't in use",
        ("a mask missing, off by one or too weak", "softmax over queries"),
    ),
    "tokens reached": Told(
        "part of the text is never read",
        ("a mask off by one", "a window or padding that wasn't declared"),
    ),
    "features read": Told(
        "part of each token is never read",
        ("heads split before the projection", "a slice that is too short"),
    ),
    "batch": Told(
        "what stands beside a text in a batch changes it",
        ("an axis of T taken for the batch", "a norm over the batch"),
    ),
    "order": Told(
        "positions come in unseen",
        ("positions that weren't declared", "tokens mixed by a missing transposition"),
    ),
    "hidden weights": Told(
        "some of the future, or of what is past the window, is read",
        ("no mask, or one turned round", "a finite number that is added as a mask"),
    ),
    "row sums": Told(
        "contexts shrink or grow with the number of tokens",
        (
            "softmax over the wrong axis",
            "weights masked or dropped after softmax; or a sink not shifted as scores "
            "are, or cut off at the wrong end",
        ),
    ),
    "weights shown": Told(
        "whoever plots these weights reads something else",
        ("weights computed a second time", "a mean, or those before the mask"),
    ),
    "scale": Told(
        "softmax is sharper or flatter than meant, and heads learn late or not",
        ("the width of all heads in the root", "a root forgotten, or taken twice"),
    ),
    "dropped weights": Told(
        "train mode averages something else than eval mode",
        (
            "dropout before softmax, or p taken for the probability to keep",
            "no division by 1 - p, or one mask for several",
        ),
    ),
    "heads": Told(
        "heads read or write one another's features",
        (
            "`repeat` in place of `repeat_interleave`, or an undeclared group",
            "heads split or merged in another order of axes",
        ),
    ),
    "queries, keys": Told(
        "two of three roles aren't free of one another",
        ("two projections exchanged", "one used twice"),
    ),
    "distances": Told(
        "what a distance means changes along the text",
        (
            "queries and keys placed unlike: off by one, other features or pairs, a "
            "sign",
            "what isn't a function of the distance: a norm behind it, values turned "
            "too",
        ),
    ),
    "padding": Told(
        "a text gives something else in a batch of longer ones",
        (
            "the mask: the other way round, along queries, shifted, of one text for "
            "all, put on after softmax, or in place of the causal one",
            "padding that comes in beside the weights: in a mean, a sum, a "
            "convolution, or counted by positions",
        ),
    ),
    "cache": Told(
        "generation with a cache goes on otherwise than without",
        ("positions or mask that start at 0 again", "a cache that keeps too little"),
    ),
    "dtypes": Told(
        "in low precision or after `.to()` it is another layer",
        ("tensors made without `dtype=`", "what isn't a buffer stays behind"),
    ),
    "large inputs": Told(
        "tokens that stand out break the mask or become NaN",
        ("a mask of -10,000", "a softmax written without taking off the largest"),
    ),
    "gradients": Told(
        "part of the layer never learns",
        (
            "a parameter that is never read, or was merged into another by `eval()`",
            "`.detach()` on the way to it",
        ),
    ),
    "input kept": Told(
        "the residual stream of whoever calls is overwritten",
        ("`x += ...`", "an operation in place on a view of x"),
    ),
    "dropout": Told(
        "the layer trains without the dropout that is declared",
        (
            "`dropout_p` never passed",
            "a seed set in `forward`: the same are dropped again",
        ),
    ),
    "eval repeats": Told(
        "no result can be repeated",
        ("dropout as a function, without `self.training`", "random numbers drawn"),
    ),
    "mode kept": Told(
        "after one call the model is in another mode",
        ("`.eval()` inside a method", "`.train()` behind it, without asking"),
    ),
    "state dict": Told(
        "a saved model isn't the one that was trained",
        ("layers in a Python list", "a tensor that is neither parameter nor buffer"),
    ),
    "devices": Told(
        "on a GPU it stops, or copies to and fro",
        ("no `register_buffer`", "no `device=x.device`"),
    ),
    "compiled": Told(
        "under `torch.compile` it is slow, or another layer",
        (
            "a branch that looks at numbers, or asks `is_compiling()`",
            "an attribute that changes in a call",
        ),
    ),
}
