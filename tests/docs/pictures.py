"""Draws every picture in the documentation from real runs: ``make pictures``.

    GRPO_ENV_DATA=FOLDER PEER_PYTHON=/tmp/peers/bin/python make pictures
    GRPO_ENV_DATA=FOLDER python tests/docs/pictures.py report.png view.png

The viewer and the report are screenshots made with Chromium.
``learning.png`` needs TRL (see docs/benchmarks.md) and takes seven minutes; ``process_supervision.png`` is a study of
an hour that can be interrupted; the others take five minutes. The picture of the landing page, that of an episode and
the recording of a terminal need none of this:

    python tests/docs/pictures.py landing episode recording
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import episode
import landing
import recording
from PIL import Image

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FROM_BENCHMARKS = ("learning.png", "process_supervision.png")
VIEW, REPORT = "view.png", "report.png"  # pages of the viewer, and a report, of the models' solutions of GSM8K
FILM = {  # picture: a step of docs/tutorials/first_hour.md, as `make test-view` saves it
    "first_hour_group.png": "*-press-g.png",
    "first_hour_run.png": "*-click-curves-of-the-run.png",
}
LANDING = "landing"  # the four files that landing.py draws
EPISODE = "episode"  # the file that episode.py draws
RECORDING = "recording"  # the file that recording.py draws
WINDOW = """<body style="margin:0"><iframe src="{name}" width={width} height={height} style="border:0"
onload="this.contentDocument.querySelector('{heading}').scrollIntoView()"></iframe>"""
DESKTOP, PHONE = (1050, 1410), (390, 1222)  # window sizes in pixels; both are scaled to a height of 940


def main(wanted: list[str]) -> None:
    if LANDING in wanted:
        landing.write_pictures(DOCS)
    if EPISODE in wanted:
        (DOCS / "episode.svg").write_text(episode.draw(*episode.record()), encoding="utf-8")
    if RECORDING in wanted:
        scenes = recording.record(Path(tempfile.mkdtemp()))
        (DOCS / "recording.svg").write_text(recording.draw(scenes), encoding="utf-8")
    if REPORT in wanted:
        folder = score_solutions()
        command = [sys.executable, "-m", "grpo_env", "view", "report", "scores.jsonl", "--out", "report.html"]
        subprocess.run(command, cwd=folder, check=True)
        screenshot(folder / "report.html")
    if VIEW in wanted:
        draw_view(score_solutions())
    if set(FILM) & set(wanted):
        draw_film()
    if "learning.png" in wanted:
        options = ["--peer-python", os.environ["PEER_PYTHON"], "--clock", "cpu", "--plot", DOCS / "learning.png"]
        subprocess.run([sys.executable, ROOT / "benchmarks/learning.py", *options], check=True)
    if "process_supervision.png" in wanted:
        study = ROOT / "runs/study"
        command = [sys.executable, ROOT / "benchmarks/process_supervision/study.py", "--out", study]
        subprocess.run(command, cwd=ROOT, check=True)
        shutil.copy(study / "study.png", DOCS / "process_supervision.png")


def screenshot(report: Path) -> None:
    """Screenshots side by side: the top of a report on a desktop (light), its completions on a phone (dark)."""
    shots = []
    for scheme, (width, height), heading in ((1, DESKTOP, "html"), (0, PHONE, "main > h2:last-of-type + *")):
        page = report.with_name("window.html")
        page.write_text(WINDOW.format(name=report.name, width=width, height=height, heading=heading))
        shot = report.with_name(f"{width}.png")
        flags = f"headless no-sandbox hide-scrollbars allow-file-access-from-files screenshot={shot}"
        flags += f" window-size={max(width, 500)},{height} blink-settings=preferredColorScheme={scheme}"
        subprocess.run(
            ["chromium", *(f"--{flag}" for flag in flags.split()), page.as_uri()], check=True, capture_output=True
        )
        shots.append(Image.open(shot).convert("RGB").crop((0, 0, width, height)).resize((width * 940 // height, 940)))
    beside(shots, DOCS / "report.png")


def score_solutions() -> Path:
    """A folder with ``scores.jsonl`` of the models' solutions."""
    models = [f"{size}_{kind}" for size in ("6b", "175b") for kind in ("finetuning", "verification")]
    folder = Path(tempfile.mkdtemp())
    command = [sys.executable, "-m", "grpo_env", "score", "gsm8k"]
    command += [f"{os.environ['GRPO_ENV_DATA']}/gsm8k_model_solutions.jsonl", "--out", "scores.jsonl"]
    command += [argument for model in models for argument in ("--completion", f"{model}.solution")]
    command += [argument for model in models for argument in ("--label", f"{model}.is_correct")]
    subprocess.run([*command, "--answer", "{{ ground_truth.split('A:')[-1] | trim }}"], cwd=folder, check=True)
    return folder


def draw_view(folder: Path) -> None:
    """Pages of the viewer: a list and a completion on a desktop, a group on a phone."""
    command = [sys.executable, "-m", "grpo_env", "view", "scores.jsonl", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        base, token = server.stdout.readline().split()[-1].split("/?")
        wanted = [
            ("?signal=mixed&sort=-advantage", 1, (1300, 1000)),
            ("row/314?signal=mixed&sort=-advantage", 1, (1150, 1000)),
            ("group/1", 0, (500, 1000)),
        ]
        shots = [
            shoot(f"{base}/{page}{'&' if '?' in page else '?'}{token}", folder, scheme, size)
            for page, scheme, size in reversed(wanted)  # the list last, when the index is complete
        ][::-1]
        server.terminate()
    beside(shots, DOCS / VIEW)


def draw_film() -> None:
    """Follow the page of the first hour, in the environment of ``make test-view``."""
    folder = Path(tempfile.mkdtemp())
    command = [ROOT / ".venv-view/bin/python", "-m", "pytest", "tests/view/browser/test_first_hour.py"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "FILM": str(folder)}, check=True)
    for picture, pattern in FILM.items():
        (made,) = folder.glob(pattern)
        with Image.open(made) as image:
            quantized = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1)
            quantized.save(DOCS / "tutorials" / picture, optimize=True)


def shoot(url: str, folder: Path, scheme: int, size: tuple[int, int]) -> Image.Image:
    """A page in a window of ``size``, in dark (0) or light (1) colors."""
    shot = folder / "shot.png"
    flags = f"headless no-sandbox hide-scrollbars screenshot={shot} window-size={size[0]},{size[1]}"
    flags += f" user-data-dir={folder / 'profile'} blink-settings=preferredColorScheme={scheme}"
    subprocess.run(["chromium", *(f"--{flag}" for flag in flags.split()), url], check=True, capture_output=True)
    with Image.open(shot) as image:
        return image.convert("RGB").resize((size[0] * 800 // size[1], 800), Image.Resampling.LANCZOS)


def beside(shots: list[Image.Image], picture: Path) -> None:
    """Write pictures of one height side by side."""
    both = Image.new("RGB", (sum(shot.width + 30 for shot in shots) + 30, shots[0].height), "white")
    left = 30
    for shot in shots:
        both.paste(shot, (left, 0))
        left += shot.width + 30
    both.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1).save(picture, optimize=True)


if __name__ == "__main__":
    wanted = sys.argv[1:] or [LANDING, EPISODE, RECORDING, REPORT, VIEW, *FILM, *FROM_BENCHMARKS]
    needed = ("GRPO_ENV_DATA", "PEER_PYTHON") if set(wanted) & set(FROM_BENCHMARKS) else ()
    needed = ("GRPO_ENV_DATA",) if {VIEW, REPORT} & set(wanted) and not needed else needed
    missing = [name for name in needed if name not in os.environ]
    missing += ["chromium"] if needed and shutil.which("chromium") is None else []
    unknown = set(wanted) - {LANDING, EPISODE, RECORDING, REPORT, VIEW, *FILM, *FROM_BENCHMARKS}
    if missing or unknown:
        sys.exit(f"pictures: missing {', '.join(missing) or 'nothing'}; unknown {', '.join(unknown) or 'nothing'}")
    main(wanted)
