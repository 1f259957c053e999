# Scores and serves on a CPU:
#   docker build -t grpo_env .
#   docker run --rm -v "$PWD:/data" grpo_env score gsm8k completions.jsonl --out scores.jsonl
#   docker run --rm -p 8000:8000 -e GRPO_ENV_TOKEN=secret grpo_env serve gsm8k --host 0.0.0.0
FROM python:3.12-slim
# The sandbox of python_tests uses bubblewrap where the container may make namespaces.
RUN apt-get update && apt-get install --no-install-recommends -y bubblewrap=0.* && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip install --no-cache-dir -c /source/constraints.txt --extra-index-url https://download.pytorch.org/whl/cpu \
    "/source[serve]" && rm -rf /source
RUN useradd --create-home --uid 1000 scorer
USER 1000
WORKDIR /data
ENTRYPOINT ["grpo_env"]
