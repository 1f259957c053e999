"""From a completion to a verdict on its final answer.

``extract`` finds the answer in the completion, ``normal`` normalizes its spelling, ``parse`` parses it into one of the
kinds in ``parsed``, ``compare`` decides whether two parsed answers are equal, and ``hedging`` what is wrong with any
value. ``rewordings`` has further readings of an answer that is not right as it stands. Formulas are compared exactly in
``formulas`` if possible, else by computer algebra in ``algebra``; ``grammar`` reads them for both. ``gold`` reads gold
answers, once each; ``foreign_readings`` are those of answers in other languages.
"""
