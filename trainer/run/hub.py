"""Uploads a trained model to a new repository of the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants

from grpo_env.errors import RunError, UsageError


def check_push(repo: str | None) -> None:
    """Raises ``UsageError`` if a model could not be uploaded as ``repo`` at the end of a run; ``None``: no upload.

    The name must be ORG/NAME of an account or organization of the user, who must be logged in with a token that can
    write, and it must not exist yet: nothing there is overwritten.
    """
    if repo is None:
        return
    organization, _, name = repo.partition("/")
    if not organization or not name or "/" in name:
        raise UsageError(f"push={repo}: expected ORG/NAME, an account or organization of the Hub and a new name")
    if constants.HF_HUB_OFFLINE:
        raise UsageError(f"push={repo}: HF_HUB_OFFLINE is set, so nothing can be uploaded; unset it, or leave out push")
    hub = HfApi()
    try:
        user = hub.whoami()
    except Exception as error:  # the hub client raises many types
        raise UsageError(
            f"push={repo}: not logged in to the Hub ({_reason(error)}); run `hf auth login`, or set HF_TOKEN"
        ) from error
    names = [user.get("name"), *(member.get("name") for member in user.get("orgs", []))]
    if organization not in names:
        raise UsageError(f"push={repo}: {organization} is none of your accounts: {', '.join(map(str, names))}")
    if _role(user) == "read":
        raise UsageError(f"push={repo}: your token can only read; log in with one that can write")
    try:
        exists = hub.repo_exists(repo)
    except Exception as error:
        raise UsageError(f"push={repo}: the Hub does not accept this name ({_reason(error)})") from error
    if exists:
        raise UsageError(f"push={repo} already exists, and its files are not overwritten; choose another name")


def push_model(folder: Path, repo: str) -> str:
    """Upload the files in ``folder`` to a new private repository; returns its address.

    Raises ``RunError``, with the command that uploads the folder later.
    """
    hub = HfApi()
    try:
        url = hub.create_repo(repo, private=True)
        hub.upload_folder(repo_id=repo, folder_path=folder, commit_message="Model trained by grpo_env")
    except Exception as error:  # the hub client raises many types
        raise RunError(
            f"push={repo}: the upload failed ({_reason(error)}). The model is in {folder}; upload it with: "
            f"hf upload {repo} {folder}"
        ) from error
    return str(url)


def _role(user: dict[str, Any]) -> str | None:
    """``read``, ``write`` or ``fineGrained``, whose rights are only known to the Hub."""
    role: str | None = user.get("auth", {}).get("accessToken", {}).get("role")
    return role


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
