"""Texts as numbers, a language whose entropy is known, and questions about it.

``tokenizer`` and ``corpus`` come first, ``batches`` cuts a text for training, and
``encoding`` feeds a trained model with text as it was trained on. ``subwords`` are the
tokens of models that others trained. ``ngram`` is the baseline, ``repeats`` are texts
that can only be copied. ``grammar`` and ``little_world`` tell stories with an exact
floor; ``probes`` asks what a model knows of them; ``decisions`` and ``excess`` say what
it loses where. ``pronouns`` are small sentences whose "it" and "she" one layer learns
to understand, ``rigged_die`` is a die that remembers, whose best loss is known, and
``dates`` are dates as people write them. Real models are asked with
``ambiguous_words``, words of two meanings in sentences that tell which is meant, and
``indirect_objects``, sentences that end where one of two names must follow.
"""
