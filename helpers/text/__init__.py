"""Texts as numbers, a language whose entropy is known, and questions about it.

``tokenizer`` and ``corpus`` come first, ``batches`` cuts a text for training, and
``encoding`` feeds a trained model with text as it was trained on. ``subwords`` are the
tokens of models that others trained. ``ngram`` is the baseline, ``repeats`` are texts
that can only be copied, and ``recall`` puts notes into a text and asks for them later.
``grammar`` and ``little_world`` tell stories with an exact
floor; ``probes`` asks what a model knows of them; ``decisions`` and ``excess`` say what
it loses where. ``pronouns`` are small sentences whose "it" and "she" one layer learns
to understand, ``rigged_die`` is a die that remembers, whose best loss is known, and
``dates`` are dates as people write them.

Models that others trained are asked with sentences of their own: ``repeated_names`` say
a made-up name twice; in ``coreference`` a verb says which of two nouns is meant by
"it", and in ``relations`` one word belongs to another; ``ambiguous_words`` have two
meanings, of which the sentence tells one, and ``indirect_objects`` end where one of two
names must follow.
"""
