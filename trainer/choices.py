"""Names that settings share with the functions that read them, apart so that settings are known without torch."""

from typing import Literal

Scale = Literal["group", "batch", "none"]
Std = Literal["sample", "population"]
Credit = Literal["sum", "mean", "min"]
Aggregate = Literal["token", "sequence", "constant"]
Surrogate = Literal["ppo", "cispo", "reinforce"]
RatioLevel = Literal["token", "sequence"]
Estimator = Literal["k1", "k2", "k3"]
