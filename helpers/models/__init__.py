"""Models that predict the next character or token.

Read ``transformer_block`` (one block), ``positions`` (where a token stands;
``relative_biases`` has T5's, and ``context_extension`` reads longer texts),
``language_model`` (embeddings, blocks, logits), ``kv_cache`` (what is kept between two
calls) and ``generation`` (writing on). ``recurrent_layers`` are attention whose memory
has a fixed size. ``fast_decoding`` writes on sooner, and ``paged_cache`` keeps many
texts in one store. ``model_file`` is a model as a file, ``eight_bits`` one that is
small enough for a page; ``quantisation`` rounds weights to fewer bits.
``switches`` is eval mode, or a head that is off, for a while;
``patching`` runs a model with parts of another run; ``induction`` scores heads that
repeat what came next last time; ``head_reading`` packs what all heads do with a text,
for a record and a page.

``pretrained`` loads models that others trained: a Llama or GPT-2 into the same layers,
a BERT into those of ``encoder``, which reads in both directions. ``lora`` fine-tunes a
few weights of many. ``latent_attention`` caches one short vector a token for all heads;
``sparse_attention`` chooses the blocks of keys that a query attends to.
"""
