#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes estimators.json: random sequences and what rlax makes of them.

  .deps/rlax/bin/python tests/golden/estimators_golden.py

tests/rl/estimators/rlax_golden_test.cc and tests/rl/algorithms/strategies/iqn_test.cc read the file. It maps the name of
an estimator to cases, each of which maps names to numbers or lists. Inputs are 32-bit floats, written so that they are
read back exactly; rlax computes with 64 bits. Discounts and traces are 0 where an episode ends, and a trace may be 0 where
the discount is not.
"""
import json
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np
import rlax

OUTPUT = Path(__file__).resolve().parents[2] / "tests/golden/estimators.json"
LENGTHS = [1, 2, 5, 12]
ACTIONS = 3


class Draw:
    """Random inputs, rounded to what 32-bit floats can hold."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def normal(self, *shape, scale=1.0):
        return (scale * self.generator.standard_normal(shape)).astype(np.float32).astype(np.float64)

    def uniform(self, low, high, *shape):
        return self.generator.uniform(low, high, shape).astype(np.float32).astype(np.float64)

    def discounts_and_traces(self, length):
        """Steps that go on, that terminate (both 0), and that are truncated (trace 0)."""
        discount = self.uniform(.8, 1, length)
        trace = self.uniform(.5, 1, length)
        end = self.generator.random(length)
        discount[end < .15] = 0
        trace[end < .3] = 0
        return discount, trace

    def probabilities(self, *shape):
        logits = self.normal(*shape)
        weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        return weights.astype(np.float32).astype(np.float64)


def returns(draw, length):
    discount, trace = draw.discounts_and_traces(length)
    return {"reward": draw.normal(length), "discount": discount, "trace": trace, "next_value": draw.normal(length, scale=3)}


def discounted(draw, length):
    case = returns(draw, length)
    case["tail"] = float(case["next_value"][-1])
    case["returns"] = rlax.discounted_returns(case["reward"], case["discount"], case["tail"])
    return case


def lambda_returns(draw, length):
    case = returns(draw, length)
    case["returns"] = rlax.lambda_returns(case["reward"], case["discount"], case["next_value"], case["trace"])
    return case


def n_step(draw, length, transform=rlax.IDENTITY_PAIR):
    case = returns(draw, length)
    case["n"] = int(draw.generator.integers(1, 7))
    case["returns"] = rlax.transformed_n_step_returns(
        transform, case["reward"], case["discount"], case["next_value"], case["n"], case["trace"])
    return case


def transformed_n_step(draw, length):
    return n_step(draw, length, rlax.SIGNED_HYPERBOLIC_PAIR)


def advantages(draw, length):
    discount, trace = draw.discounts_and_traces(length)
    case = {"reward": draw.normal(length), "discount": discount, "trace": trace, "value": draw.normal(length + 1)}
    case["advantage"] = rlax.truncated_generalized_advantage_estimation(
        case["reward"], discount, trace, case["value"])
    return case


def vtrace(draw, length):
    case = advantages(draw, length)
    # rlax clips the trace at 1.
    case["clip_rho"], case["clip_advantage_rho"] = draw.uniform(.5, 3, 2).tolist()
    case["log_ratio"] = draw.normal(length, scale=.7)
    value = case["value"]
    theirs = rlax.vtrace_td_error_and_advantage(
        value[:-1], value[1:], case["reward"], case["discount"], np.exp(case["log_ratio"]), case["trace"],
        case["clip_rho"], case["clip_advantage_rho"])
    case["target"] = theirs.errors + value[:-1]
    case["advantage"] = theirs.pg_advantage
    return case


def retrace(draw, length, transform=rlax.IDENTITY_PAIR):
    """The policy and the action values of all T + 1 observations; the actions of T steps."""
    discount, trace = draw.discounts_and_traces(length)
    value = draw.normal(length + 1, ACTIONS, scale=3)
    policy = draw.probabilities(length + 1, ACTIONS)
    behaviour = draw.probabilities(length + 1, ACTIONS)
    action = draw.generator.integers(0, ACTIONS, length)
    taken = np.arange(length), action
    # rlax has one lambda for all steps, so the coefficients are computed here, and its general form is asked.
    coefficient = trace[:-1] * np.minimum(1, policy[taken] / behaviour[taken])[1:]
    plain = transform.apply_inv(value)
    target = rlax.general_off_policy_returns_from_q_and_v(
        plain[taken][1:], (policy * plain).sum(-1)[1:], reward := draw.normal(length), discount, coefficient)
    return {"reward": reward, "discount": discount, "trace": trace, "action": action, "policy": policy.ravel(),
            "behaviour": behaviour.ravel(), "value": value.ravel(), "target": transform.apply(target)}


def transformed_retrace(draw, length):
    return retrace(draw, length, rlax.SIGNED_HYPERBOLIC_PAIR)


def double_q(draw, length):
    case = {"reward": float(draw.normal()), "discount": float(draw.uniform(0, 1)),
            "online": draw.normal(length), "target": draw.normal(length)}
    # The error of a prediction of 0 is the target.
    case["expected"] = float(rlax.double_q_learning(
        np.zeros(length), np.int64(0), case["reward"], case["discount"], case["target"], case["online"]))
    return case


def transform(draw, length):
    value = draw.normal(length, scale=300)
    pair = rlax.SIGNED_HYPERBOLIC_PAIR
    return {"value": value, "transformed": pair.apply(value), "inverse": pair.apply_inv(value)}


def novelty(draw, length):
    """An observation after 20 others, with embeddings of `length` numbers."""
    memory, embedding = draw.normal(20, length), draw.normal(1, length)
    _, before = rlax.episodic_memory_intrinsic_rewards(memory, 10, 1.0, max_memory_size=20)
    reward, after = rlax.episodic_memory_intrinsic_rewards(embedding, 10, 1.0, before, max_memory_size=20)
    # rlax's distances are negative and it adds .001 to their mean, so it divides by this.
    mean = -float(after.distance_sum / after.distance_count) - 1e-3
    distance = np.sort(((memory - embedding) ** 2).sum(-1))[:10]
    return {"squared_distance": distance, "mean": mean, "reward": float(reward[0])}


def quantile(draw, length):
    """`length` quantiles of a prediction against 5 of a target. The loss is added up over the former."""
    value, fraction, target = draw.normal(length, scale=2), draw.uniform(0, 1, length), draw.normal(5, scale=2)
    kappa = float(draw.generator.choice([0, .5, 1]))

    def loss(value):
        # rlax leaves out the division by kappa, as QR-DQN's paper does; that of IQN has it (equation 3).
        return rlax.quantile_regression_loss(value, fraction, target, kappa) / (kappa or 1)

    return {"value": value, "fraction": fraction, "target": target, "kappa": kappa, "loss": float(loss(value)),
            "by_value": jax.grad(loss)(value)}


def plain(value):
    """Numbers for JSON. Nine digits suffice for a 32-bit float to be read back exactly."""
    if isinstance(value, (int, float)):
        return value
    array = np.asarray(value)
    return array.tolist() if array.dtype.kind == "i" else [float(f"{number:.9g}") for number in array.tolist()]


def main():
    draw = Draw(7)
    makers = [discounted, lambda_returns, n_step, transformed_n_step, advantages, vtrace, retrace, transformed_retrace,
              double_q, transform, novelty, quantile]
    cases = {maker.__name__: [{name: plain(value) for name, value in maker(draw, length).items()}
                              for length in LENGTHS for _ in range(3)] for maker in makers}
    lines = [f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in of_name) + "\n]" for name, of_name in cases.items()]
    OUTPUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{sum(map(len, cases.values()))} cases; {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
