"""What a model reads before each turn where its chat template rewrites the past (``environment.history: fork``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from grpo_env.control_tokens import without_control_tokens
from grpo_env.core import Example
from grpo_env.environments.episode import ChatMessage

from .conversation import Conversation


@dataclass
class History:
    """The conversation of an episode as the chat template writes it.

    A turn of the model is a message whose content is its text with its calls, as it wrote them.
    """

    conversation: Conversation
    example: Example
    messages: list[ChatMessage] = field(default_factory=list)
    text: str = ""
    """What was read before the latest turn."""
    unwritten: int = 0
    """How often the template failed, so that the next turn was sampled after the tokens before it."""

    def begin(self, messages: Sequence[ChatMessage]) -> None:
        """Take the messages before the first turn."""
        self.messages += messages
        self.text = self.conversation.render(self.example, self.messages)

    def after(self, turn: Sequence[int], end: int, messages: Sequence[ChatMessage]) -> tuple[list[int], bool]:
        """The tokens to read before the next turn, and whether they are the whole history.

        They are those that follow the turn, as long as the template writes everything before them as it was read and
        sampled; it is compared as text. A history that the template cannot write is gone on with as it was sampled, and
        counted: a model may write what the template fails on, and must not escape its reward that way.

        Args:
            turn: the tokens of the latest turn, without the end token.
            end: that token.
            messages: what the model is told after it.
        """
        tokenizer = self.conversation.policy.tokenizer
        content = self.conversation.begun(self.text) + self._content(turn)
        self.messages += [{"role": "assistant", "content": content}, *messages]
        said = self.text + self.conversation.spelled(turn)
        try:
            self.text = self.conversation.render(self.example, self.messages)
        except Exception:  # a template is a program, and the turn may be any text
            self.unwritten += 1
            ids = self.conversation.between(self.example, messages)
            self.text = said + self.conversation.spelled([end, *ids])
            return ids, False
        if self.text.startswith(said):
            ids = tokenizer(self.text[len(said) :], add_special_tokens=False)["input_ids"]
            if ids[:1] == [end]:
                return ids[1:], False
        return list(tokenizer(self.text, add_special_tokens=False)["input_ids"]), True

    def _content(self, turn: Sequence[int]) -> str:
        """A turn as text that has no control tokens, when it is tokenized again, but those that were sampled."""
        tokenizer, spelled = self.conversation.policy.tokenizer, self.conversation.spelled
        added, text = tokenizer.added_tokens_decoder, spelled(turn)
        again = tokenizer(text, add_special_tokens=False)["input_ids"]
        if [token for token in again if token in added] == [token for token in turn if token in added]:
            return text
        plain = without_control_tokens(tokenizer, of_template=True)
        runs = [(sampled, spelled(list(run))) for sampled, run in groupby(turn, added.__contains__)]
        return "".join(run if sampled else plain(run) for sampled, run in runs)
