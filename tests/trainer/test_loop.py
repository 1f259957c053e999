from grpo_env.trainer.loop import train


def test_smoke(make_task, tmp_path):
    r = train(make_task(), run_dir=tmp_path / "run")
    print(r)
    print((tmp_path / "run/metrics.jsonl").read_text())
    print((tmp_path / "run/samples.jsonl").read_text()[:1500])
