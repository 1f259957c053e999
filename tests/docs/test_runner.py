"""The runner of pages can fail: each test gives it a page that does not match what happens."""

import pytest

from .pages import blocks, commands, matches, run_page, same_line

PAGE = """\
Write

```yaml title="in/a.yaml"
key: 1
```

and run

```console
$ cat in/a.yaml \\
    in/a.yaml
key: 1
key: 1
$ echo first; echo second; echo third >&2
first
...
third
$ false   # exit code 1
```

<!-- docs: slow -->
```console
$ echo accuracy 0.9 after 12 s
accuracy 0.8 after 15 s
```
"""


def problems(text, folder, **options):
    page = folder / "page.md"
    page.write_text(text)
    return run_page(page, folder, **options)


def test_a_correct_page_has_no_mismatches(tmp_path):
    assert problems(PAGE, tmp_path) == []
    assert (tmp_path / "in/a.yaml").read_text() == "key: 1\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("\nfirst\n", "\nfirst of all\n", "line 14: $ echo first"),
        ("...\nthird", "...\nthird\nfourth", "it printed\nfirst\nsecond\nthird"),
        ("first\n...\nthird", "first\nthird", "it printed"),
        ("key: 1\nkey: 1\n", "key: 1\n", "it printed"),
        ("$ cat", "$ no_such_command", "exit code 127, not 0"),
        ("$ false   # exit code 1", "$ false", "exit code 1, not 0"),
        ("# exit code 1", "# exit code 2", "exit code 1, not 2"),
        ('title="in/a.yaml"', 'title="b.yaml"', "exit code 1, not 0"),
        ("accuracy 0.8", "accuracy 0.6", "the page shows\naccuracy 0.6"),
    ],
)
def test_a_wrong_page_is_reported(tmp_path, old, new, problem):
    assert old in PAGE
    (reported,) = problems(PAGE.replace(old, new, 1), tmp_path)
    assert problem in reported


def test_marked_blocks_are_skipped(tmp_path):
    broken = PAGE.replace("accuracy 0.8", "accuracy 0.1")
    assert len(problems(broken, tmp_path)) == 1
    assert problems(broken, tmp_path, skipped=frozenset({"slow"})) == []


def test_a_console_block_starts_with_a_command():
    (block,) = blocks("```console\nkey: 1\n$ cat a\n```\n")
    with pytest.raises(AssertionError, match="line 2: a console block starts"):
        list(commands(block))


@pytest.mark.parametrize(
    ("expected", "printed", "rough", "same"),
    [
        ("5 of 6 right", "5 of 6 right  ", False, True),
        ("5 of 6 right", "4 of 6 right", False, False),
        ("mean 0.3793", "mean 0.3794", False, False),
        ("in 2.2 s (2,422/s)", "in 10.5 s (300/s)", False, True),
        ("in 2.2 s, 3 rows", "in 2.2 s, 4 rows", False, False),
        ("run runs/a-20260101-1", "run runs/a-20271231-12", False, True),
        ("left 3:03", "left 0:10", False, True),
        ("file …/a.yaml", "file /some/where/a.yaml", False, True),
        ("file …/a.yaml", "file /some/where/b.yaml", False, False),
        ("  indented", "indented", False, False),
        ("greedy 0.990 of 200", "greedy 0.850 of 200", True, True),
        ("greedy 0.990 of 200", "greedy 0.750 of 200", True, False),
        ("greedy 0.990 … 200", "greedy 0.950 of 1 or 190", True, True),
        ("greedy 0.990", "sampled 0.990", True, False),
    ],
)
def test_lines_are_compared(expected, printed, rough, same):
    assert same_line(expected, printed, rough) is same


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a ... d", "a b c d", True),
        ("... d", "a b c d", True),
        ("a ...", "a b c d", True),
        ("a ... b c ... d", "a b c d", True),
        ("a ... c ... d", "a b c d", True),
        ("a ... c b ... d", "a b c d", False),
        ("a ... d", "a b c", False),
        ("a ... a", "a", False),
        ("a b", "a b c", False),
        ("a b c", "a b", False),
    ],
)
def test_omitted_lines(expected, printed, same):
    assert matches(expected.split(), printed.split(), rough=False) is same
