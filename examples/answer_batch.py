"""Answers a batch of requests with the bundled model: ``python examples/answer_batch.py``.

Reads ``requests.jsonl`` of docs/tutorials/vllm_file.md, and writes ``answers.jsonl`` as ``vllm run-batch`` would.
"""

import json
from importlib.resources import files
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder = files("grpo_env.trainer") / "bundled"
model = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
requests = [json.loads(line) for line in Path("requests.jsonl").read_text().splitlines()]
chats = [request["body"]["messages"] for request in requests]
prompts = tokenizer.apply_chat_template(
    chats, add_generation_prompt=True, padding=True, return_dict=True, return_tensors="pt"
)
torch.set_num_threads(1)
torch.manual_seed(0)
rows = model.generate(**prompts, do_sample=True, num_return_sequences=4, max_new_tokens=64)
rows = rows[:, prompts["input_ids"].shape[1] :]
texts = tokenizer.batch_decode(rows, skip_special_tokens=True)
reasons = ["stop" if tokenizer.eos_token_id in row else "length" for row in rows.tolist()]
with open("answers.jsonl", "w") as out:
    for number, request in enumerate(requests):
        choices = [
            {
                "index": at - 4 * number,
                "message": {"role": "assistant", "content": texts[at]},
                "finish_reason": reasons[at],
            }
            for at in range(4 * number, 4 * number + 4)
        ]
        response = {"status_code": 200, "body": {"object": "chat.completion", "choices": choices}}
        out.write(json.dumps({"custom_id": request["custom_id"], "response": response, "error": None}) + "\n")
