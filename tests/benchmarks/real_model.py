"""How fast a real model writes and reads, beside ``transformers`` with its weights."""

import functools
import statistics
import time

import torch
import transformers

from helpers.models import pretrained
from helpers.models.generation import generate
from tests.benchmarks.rounds import in_words, ratio, seconds_in_rounds

NEW, PROMPT, ROUNDS = 60, 512, 5
OURS, THEIRS = "this book's layers", "transformers"


def bench_real_model(device):
    """Tokens per second of SmolLM2-135M, with keys and values kept, and a prompt."""
    try:
        began = time.perf_counter()
        real = pretrained.load("smollm2-135m")
        print(f"a real model: loaded in {time.perf_counter() - began:.1f} s")
    except pretrained.ModelUnavailable as error:
        print(f"a real model: {error}")
        return
    print(f"  {real.card}")
    other = same_model(real.model)
    ids = torch.randint(300, 40_000, (1, PROMPT), device=device)
    for dtype in (torch.float32, torch.bfloat16):
        ours, theirs = real.model.to(device, dtype), other.to(device, dtype)
        _bench_writing(ours, theirs, ids[:, :8], device, dtype)
        _bench_reading(ours, theirs, ids, device)


def same_model(model):
    """A Llama of ``transformers`` with a TransformerLM's weights, in eval mode."""
    config = model.config
    with torch.device("meta"):
        theirs = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.d_model,
                intermediate_size=config.hidden,
                num_hidden_layers=config.num_layers,
                num_attention_heads=config.num_heads,
                num_key_value_heads=config.num_kv_heads,
                max_position_embeddings=config.context_length,
                rms_norm_eps=config.norm_eps,
                rope_parameters={
                    "rope_theta": config.rotary_base,
                    "rope_type": "default",
                },
                tie_word_embeddings=config.tie_weights,
            )
        )
    # What isn't saved: the angles' frequencies.
    theirs.model.rotary_emb = type(theirs.model.rotary_emb)(theirs.config)
    names = pretrained.architectures.llama_names(config.num_layers)
    state = {names[name]: one.clone() for name, one in model.state_dict().items()}
    if config.tie_weights:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    theirs.load_state_dict(state, assign=True)
    theirs.tie_weights()
    return theirs.eval()


def _bench_writing(ours, theirs, prompt, device, dtype):
    ways = {
        OURS: functools.partial(generate, ours, prompt, NEW, temperature=0),
        THEIRS: functools.partial(
            theirs.generate,
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=NEW,
            min_new_tokens=NEW,
            do_sample=False,
            pad_token_id=0,
        ),
    }
    print(f"  {NEW} new tokens in {str(dtype).removeprefix('torch.')}, on {device}")
    seconds = seconds_in_rounds(ways, device, ROUNDS)
    for name, taken in seconds.items():
        speed = NEW / statistics.median(taken)
        faster = in_words(ratio(seconds, THEIRS, name))
        print(f"  {speed:8.1f} tokens/s  {name}: {faster}")


def _bench_reading(ours, theirs, ids, device):
    def read(model):
        with torch.inference_mode():
            model(ids)

    ways = {
        OURS: functools.partial(read, ours),
        THEIRS: functools.partial(read, theirs),
    }
    seconds = seconds_in_rounds(ways, device, ROUNDS)
    for name, taken in seconds.items():
        faster = in_words(ratio(seconds, THEIRS, name))
        milliseconds = 1000 * statistics.median(taken)
        print(f"  {milliseconds:8.1f} ms for {PROMPT} tokens  {name}: {faster}")
