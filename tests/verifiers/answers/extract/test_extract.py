"""Which text is the final answer: the order of the sources, denials and contradictions, and linear run time."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.extract import answer_in, final_answer, visible
from grpo_env.verifiers.answers.extract.result import ALL_SOURCES, SOURCES, Source
from grpo_env.verifiers.answers.kinds.choice import names_option
from grpo_env.verifiers.blocks import whole_turn

ALL_SIX = '</think> <answer>1</answer> \\boxed{2}\n{"answer": 3}\n#### 4\nThe answer is 5.\n**6**'
PLACES = r'in <answer> tags, in \boxed{} or after "The answer is"'
NOT_MARKED = f"all of the last line was compared, since no answer is {PLACES}"
# For each source, a text from which no other source extracts an answer.
ALONE: dict[Source, str] = {
    "answer_tag": "<answer>7</answer>",
    "boxed": r"so $\boxed{7}$",
    "hashes": "#### 7",
    "phrase": "The answer is 7.",
    "json": '{"reasoning": "3+4", "answer": 7}',
    "last_line": "7",
    "last_number": "She sells 9 eggs for 7 dollars. That is what she makes every day, in summer and winter.",
}


def test_only_its_own_source_finds_an_answer() -> None:
    for name, text in ALONE.items():
        final = final_answer(Format(), Completion(text), (name,))
        assert (final.answers, final.source) == (("7",), name)
        assert final_answer(Format(), Completion(text)).source == (name if name in SOURCES else "none")
        for other_source in SOURCES:
            if other_source not in (name, "last_line"):
                assert final_answer(Format(), Completion(text), (other_source,)).answers == ()


def test_a_task_chooses_the_sources_and_their_order() -> None:
    values = {"answer_tag": "1", "boxed": "2", "json": "3", "hashes": "4", "phrase": "5", "last_line": "6"}
    for name in SOURCES:
        score = Accuracy(sources=(name,))(Example("x", answer=values[name]), Completion(ALL_SIX))
        assert score.value == 1, score
        assert score.explanation.startswith(name)
    # A weaker source contradicts what a stronger one says before it only if it is named.
    assert final_answer(Format(), Completion(ALL_SIX), ("boxed", "hashes")).answers == ("2", "4")
    assert final_answer(Format(), Completion(ALL_SIX), ("boxed",)).answers == ("2",)


@pytest.mark.parametrize("sources", [(), ("boxed", "boxed"), ("boxes",)])
def test_invalid_sources_are_refused(sources: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"accuracy: sources: .*boxed"):
        find("accuracy")(sources=sources)


@pytest.mark.parametrize(
    ("completion", "status", "why"),
    [
        (r"It is not \boxed{72}", "scored", "boxed: the text denies it"),
        (r"$x \neq \boxed{72}$", "scored", "boxed: the text denies it"),
        (r"$x \ne$ $\boxed{72}$", "scored", "boxed: the text denies it"),
        (r"It can't be $\boxed{72}$.", "scored", "boxed: the text denies it"),
        (r"\boxed{\neq 72}", "scored", "boxed: the text denies it"),
        (r"\boxed{\text{not } 72}", "scored", "boxed: the text denies it"),
        ("The answer is not 72.", "scored", "phrase: the text denies it"),
        ("It is not <answer>72</answer>", "scored", "answer_tag: the text denies it"),
        (r"<answer>not \boxed{72}</answer>", "scored", "answer_tag: the text denies it"),
        (r"\boxed{72} or \boxed{73}", "scored", "boxed: several different answers"),
        (r"\boxed{72}. The answer is 73.", "scored", "boxed: several different answers"),
        ("<answer>72</answer> Sorry, the answer is 73.", "scored", "answer_tag: several different answers"),
        (r"<answer>72</answer> or \boxed{73}", "scored", "answer_tag: several different answers"),
        ("The answer is 72. The answer is 73.", "scored", "phrase: several different answers"),
        ("A: 72\nA: 73", "scored", "phrase: several different answers"),
        ("<think>\\boxed{72}", "no_answer", "the reasoning block is not closed"),
        ("<think>\\boxed{72}</think>", "no_answer", "no answer found: there is no text"),
        ("<think>a</think><think>\\boxed{72}", "no_answer", "the reasoning block is not closed"),
        ("<answer>72", "no_answer", "the answer tag is not closed"),
        ("72</answer>", "no_answer", "the answer tag is not opened"),
        ("<answer><answer>72</answer></answer>", "no_answer", "answer tags are nested"),
        ("<answer> </answer>", "no_answer", "the answer is empty"),
        (r"\boxed{72", "no_answer", "the box is not closed"),
        (r"\boxed{\frac{72}{1}", "no_answer", "the box is not closed"),
        (r"\boxed{}", "no_answer", "the box is empty"),
        (r"\boxed{72} \boxed{", "no_answer", "the box is not closed"),
        ("", "no_answer", "no answer found: there is no text"),
        (
            "Seventy two, as I said, and nobody would doubt it for a moment.",
            "no_answer",
            f"no answer found: write it {PLACES}",
        ),
        ("I think it is that.", "scored", f"last_line: words where a number or formula was expected; {NOT_MARKED}"),
        ("That", "scored", "last_line: words where a number or formula was expected"),
        ("5 km", "scored", "last_line: a different number"),
        (r"\boxed{72} is wrong", "scored", "boxed: the text denies it"),
        ("The answer is 72. Wait, that cannot be right.", "scored", "phrase: the text denies it"),
        ("#### 72\nThis answer is incorrect.", "scored", "hashes: the text denies it"),
        (r"\boxed{72} or 73", "scored", "boxed: several different answers"),
        ("The answer is 72. Wait, it is 73.", "scored", "phrase: several different answers"),
        ("So it is 72. #### 72\nActually, 73.", "scored", "hashes: several different answers"),
        ("A: 72\nCorrection: 73", "scored", "phrase: several different answers"),
    ],
)
def test_why_an_answer_is_not_accepted(completion: str, status: str, why: str) -> None:
    score = Accuracy()(Example("x", answer="72"), Completion(completion))
    assert (score.value, score.status, score.explanation) == (0, status, why)


@pytest.mark.parametrize(
    ("sources", "tag", "places"),
    [
        (SOURCES, "solution", PLACES.replace("answer>", "solution>")),
        (("boxed",), "answer", r"in \boxed{}"),
        (("answer_tag", "hashes"), None, "in <answer> tags or after ####"),
        (("last_number",), "answer", "in digits"),
    ],
)
def test_a_missing_answer_is_told_where_it_has_to_be(sources, tag, places) -> None:
    verifier = Accuracy(format=Format(answer=tag), sources=sources)
    score = verifier(Example("x", answer="18"), Completion("That would be Paris, of course, since long ago."))
    assert (score.status, score.explanation) == ("no_answer", f"no answer found: write it {places}")


@pytest.mark.parametrize("name", ["accuracy", "exact_text"])
def test_words_on_the_last_line_are_told_that_nothing_marks_the_answer(name: str) -> None:
    wrong, right = (
        find(name)()(Example("x", answer="Paris"), Completion(text)) for text in ("I think it is Paris.", "Paris")
    )
    assert (wrong.value, right.value) == (0, 1)
    assert wrong.explanation.endswith(f"; {NOT_MARKED}")
    assert NOT_MARKED not in right.explanation


@pytest.mark.parametrize(
    "completion",
    [
        r"\boxed{72}, and again \boxed{72}",
        r"It is not 71 but \boxed{72}",
        r"$x \neq 71$, so $\boxed{72}$",
        r"\boxed{72}. The answer is 72.",
        "<answer>The answer is 72</answer>",
        r"<answer>\boxed{72}</answer> So the answer is 72.",
        "The answer is **72**.",
    ],
)
def test_answers_without_a_contradiction(completion: str) -> None:
    score = Accuracy()(Example("x", answer="72"), Completion(completion))
    assert score.value == 1, score


@pytest.mark.parametrize(
    ("text", "status"),
    [("so</think>\\boxed{72}", "scored"), ("so \\boxed{72}", "no_answer"), ("<think>so</think>72", "scored")],
)
def test_the_prefill_counts_as_part_of_the_completion(text: str, status: str) -> None:
    """A template that writes <think>: without a closing tag there is no answer, wherever the prefill is given."""
    example = Example("x", answer="72")
    for format, completion in (
        (Format(prefill="<think>\n"), Completion(text)),
        (Format(), Completion(text, prefill="<think>\n")),
        (Format(prefill="<think>\n"), Completion(text, prefill="<think>\n")),
    ):
        score = Accuracy(format=format)(example, completion)
        expected = "no_answer" if text.startswith("<think>") and completion.prefill else status
        assert score.status == ("scored" if "</think>" in text else expected), (format, completion, score)
        assert score.value == (score.status == "scored")


SPECIAL_TOKENS = [
    "<|im_end|>",
    "<|endoftext|>",
    "</s>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<eos>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
]


@pytest.mark.parametrize("token", SPECIAL_TOKENS)
def test_special_tokens_at_the_end_are_no_part_of_a_completion(token: str) -> None:
    for text in ALONE.values():
        for end in (token, f" {token}\n", token * 3):
            plain, marked = Completion(text), Completion(text + end)
            assert final_answer(Format(), marked).answers == final_answer(Format(), plain).answers
            assert whole_turn(Format(), marked)[0].rstrip() == text
    assert whole_turn(Format(), Completion(f"5{token} 6")) == (f"5{token} 6", 0)


def test_a_tag_of_the_format_is_no_special_token() -> None:
    completion = Completion("<s>7</s>")
    assert whole_turn(Format(answer="s"), completion)[0] == completion.text
    assert final_answer(Format(answer="s"), completion).answers == ("7",)


def test_several_boxes_form_a_set() -> None:
    score = Accuracy()(Example("x", answer=r"\{2, 3\}"), Completion(r"$x=\boxed{2}$ or $x=\boxed{3}$"))
    assert score.value == 1, score


TOKENS = [
    "a", "5", "12,", " ", "\n", "\r\n", "\t", "\\", "{", "}", "\\{", "\\}", r"\boxed{", r"\boxed ", r"\boxed{1}",
    r"\fbox{", "<think>", "</think>", "<answer>", "</answer>", "<answer>1</answer>", "the answer is ", "answer",
    "answer to ", "answer: ", "answer for x", "would be", "*", "_", ":", "=", "A:", "A: 5\n", "Ans", "#### 5\n", "####",
    "#", "$", "$$", "\\(", "\\)", "\\[", "\\]", "not ", "cannot ", "n't ", "≠", r"\neq ", r"\not=", "!=", "be ",
    "equal ", "to ", ".", "!", "?", "; ", ", because", "-", "**5**", "\\phantom{", "\\quad", "~", r"not \boxed{4}",
    "the answer is 5. ", "½", "a #### 5 ", "#### 2. Sell\n", "```", "```\n5\n", "Wait, it is 5. ", "Actually, ",
    "or 6 ", "is wrong ", "this answer is wrong. ", "answer\n", "correct option is (C). ",
    "not 5 but ", "(since ", "答案是5。", "选",
    "<answer> tags ", "`<answer>` ", "<answer></answer> tags ", "<|im_end|>", "</s>", "\u200b", "5/", "- ",
    "La respuesta es ", "la respuesta no ", "Ответ: 5\n", "答えは", "Wait, no. ", "\nQ: ", "<|im_start|>user", "<b>",
    "</b>", "<br>", '{"answer": 5}', "{\n", "\u2705", "It is 6. ", '{"answer": "A"} or ', "if ", "A. x\n", "Choice_",
]  # fmt: skip

MARKS = re.compile(r"\*+|</?b>|<br>")


@pytest.mark.parametrize("token", TOKENS)
def test_long_texts_of_one_token_take_linear_time(token: str, long_text: Callable[[str], str]) -> None:
    text = long_text(token)
    assert isinstance(final_answer(Format(), Completion(text)).answers, tuple)
    assert isinstance(answer_in(text).answers, tuple)


@given(tokens=st.lists(st.sampled_from(TOKENS), min_size=2, max_size=4), lead=st.sampled_from(["", *TOKENS]))
@example(tokens=["\\"], lead=r"\boxed{1}")  # backslashes behind a box
@settings(max_examples=25, deadline=None)
def test_long_texts_of_several_tokens_take_linear_time(
    tokens: list[str], lead: str, long_text: Callable[[str], str]
) -> None:
    text = lead + long_text("".join(tokens))
    assert isinstance(final_answer(Format(), Completion(text)).answers, tuple)
    assert isinstance(final_answer(Format(), Completion(text), SOURCES, names_option, "choice").answers, tuple)
    assert isinstance(answer_in(text).answers, tuple)


@given(
    text=st.one_of(st.text(), st.lists(st.sampled_from(TOKENS), max_size=30).map("".join)),
    sources=st.permutations(ALL_SOURCES),
)
@settings(max_examples=200, deadline=None)
def test_answers_are_parts_of_the_text(text: str, sources: list[Source]) -> None:
    final = final_answer(Format(), Completion(text), sources)
    whole = MARKS.sub("", visible(text))
    assert all(answer.strip() == answer and MARKS.sub("", answer) in whole for answer in final.answers if answer)
    assert final.answers or final.reason
