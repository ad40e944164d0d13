"""The examples of docs/sessions.md, one after the other."""

import doctest

from tests.test_documents import blocks


def test_the_examples_of_the_page_on_sessions():
    examples = "\n\n".join(blocks("docs/sessions.md", "python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/sessions.md", None, None)
    assert len(test.examples) > 30
    said = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
