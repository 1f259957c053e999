"""From a completion to a verdict on its final answer.

The modules are the way of an answer. ``extract`` finds it in the completion, ``spelling`` normalizes it, ``parse``
parses it into one of the kinds in ``parsed``, ``compare`` decides whether two parsed answers are equal, and
``hedging`` what is wrong with any value. ``gold`` reads gold answers, once each, and ``kinds`` says what they are. An
answer that is not right as it stands is looked at again: by its ``structures`` (families of solutions, lines, vectors),
by ``equivalents`` (texts of a fixed form that name one thing), in other ``languages``, and in other ``rewordings``.

The other packages know one thing each: ``quantities``, ``times``, ``formulas``, ``codes``, ``sciences``, ``words``;
``vocabulary`` has their tables of words.
"""
