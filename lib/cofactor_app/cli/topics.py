"""``cofactor topics``: the verb `cofactor.topics` on the command line."""

from __future__ import annotations

import argparse
from functools import partial

from cofactor.verbs.topics import topics as verb
from cofactor_app.cli.anchors import split_weights, write_arrays
from cofactor_app.cli.output import answered, one_or_all, outputs, say_later, tell_result, write_report

READING = ("document", "word", "count", "vocabulary", "stop_words", "ngrams", "min_documents", "method", "words")
COMMON = ("spelling", "skip_bad", "encoding", "sep")


def topics(arguments: argparse.Namespace) -> None:
    """Find topics, write the requested files, and print the result."""
    options = {name: getattr(arguments, name) for name in (*READING, *COMMON)}
    table, arrays = split_weights(arguments.weights)
    inputs, others = [*arguments.texts, arguments.vocabulary], [arrays, arguments.report]
    with outputs(arguments, [arguments.output, table], inputs, others) as writer:
        wrote = say_later(writer)
        found = answered(arguments, partial(verb, one_or_all(arguments.texts), arguments.anchors, **options))
        if arguments.output:
            writer.write(arguments.output, [found.topics.round(6)], f"{found.method.topics.shape[1]} topics")
        if table:
            writer.write(table, [found.documents.round(6)], f"{len(found.documents):,} documents")
        if arrays:
            names = found.documents["document"].tolist()
            write_arrays(arrays, found.documents.drop(columns="document"), names, writer)
        write_report(arguments, found, writer)
        tell_result(arguments, found, [], wrote)
