#!/usr/bin/env python3
"""Records what torch.amp.GradScaler does, for test_scaler.c to replay.

    pip install torch && python3 make_scaler_traces.py > scaler_traces.txt

Each trace runs a real scaler with a real optimizer on the CPU. Per step it
gets a gradient with or without an inf, and the line records: was it bad, was
the optimizer's step taken, the scale and growth tracker after update().
Factors are exact in FP32, because libamp's options are floats.
"""
import random

import torch

TRACES = [
    # name, init_scale, growth, backoff, interval, steps, chance of inf, seed
    ("defaults_good", 65536.0, 2.0, 0.5, 2000, 2005, 0.0, 1),
    ("calibration", 65536.0, 2.0, 0.5, 5, 60, 0.3, 2),
    ("all_bad", 65536.0, 2.0, 0.5, 3, 180, 1.0, 3),
    ("grows_to_the_end", 65536.0, 2.0, 0.5, 1, 140, 0.0, 4),
    ("odd_factors", 1000.0, 1.5, 0.75, 4, 200, 0.2, 5),
    ("slow_factors", 3.0, 1.0625, 0.9375, 2, 300, 0.35, 6),
    ("subnormal", 1e-30, 2.0, 0.25, 3, 40, 0.7, 7),
    ("big_backoff", 1.0, 16.0, 0.0625, 2, 120, 0.25, 8),
]


class CountingSGD(torch.optim.SGD):
    """Counts the steps that the scaler lets through."""

    taken = 0

    def step(self, closure=None):
        self.taken += 1
        return super().step(closure)


def overflows(chance, rng):
    return chance > 0.0 and rng.random() < chance


def run(name, init, growth, backoff, interval, steps, chance, seed):
    rng = random.Random(seed)
    weight = torch.nn.Parameter(torch.zeros(4))
    optimizer = CountingSGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler(
        "cpu",
        init_scale=init,
        growth_factor=growth,
        backoff_factor=backoff,
        growth_interval=interval,
    )
    scaler.scale(torch.zeros(1))  # makes the scale tensor
    print(f"trace {name} {float(init).hex()} {float(growth).hex()} "
          f"{float(backoff).hex()} {interval} {steps}")
    for _ in range(steps):
        bad = overflows(chance, rng)
        before = optimizer.taken
        gradient = torch.ones(4) * scaler.get_scale()
        if bad:
            gradient[rng.randrange(4)] = rng.choice(
                [float("inf"), float("-inf"), float("nan")])
        weight.grad = gradient
        scaler.step(optimizer)
        scaler.update()
        stepped = optimizer.taken - before
        state = scaler.state_dict()
        print(f"{int(bad)} {int(stepped)} {float(state['scale']).hex()} "
              f"{state['_growth_tracker']}")


def main():
    print(f"# torch {torch.__version__}, torch.amp.GradScaler on the CPU")
    print("# trace NAME INIT GROWTH BACKOFF INTERVAL STEPS, then per step:")
    print("# bad stepped scale tracker")
    for trace in TRACES:
        run(*trace)


if __name__ == "__main__":
    main()
