"""Models that predict the next character.

Read ``transformer_block`` (one block), ``language_model`` (embeddings, blocks, logits),
``kv_cache`` (what is kept between two calls), ``generation`` (writing on) and
``switches`` (eval mode, or one head, off for a while). ``patching`` runs a model with
parts of another run; ``induction`` scores heads that repeat what came next last time.
"""
