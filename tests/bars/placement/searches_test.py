# SPDX-License-Identifier: Apache-2.0
import json
import math
import pathlib
import random
import tempfile
import tomllib
import unittest

import graphs
import searches


class MeasuresTest(unittest.TestCase):
    def test_samples_are_counted_until_the_first_step_that_is_short_enough(self):
        method = {"improvements": [[1, 0.5], [10, 0.2], [40, 0.1]]}
        self.assertEqual(searches.samples_until(method, 0.5, 100), 1)
        self.assertEqual(searches.samples_until(method, 0.2, 100), 10)
        self.assertEqual(searches.samples_until(method, 0.15, 100), 40)
        self.assertEqual(searches.samples_until(method, 0.05, 100), 100)
        self.assertEqual(searches.samples_until({"improvements": []}, 1, 100), 100)

    def test_the_interval_of_a_median_encloses_the_true_one_as_often_as_it_says(self):
        draw = random.Random(1)
        for count in (5, 20):
            enclosed = 0
            for _ in range(4000):
                _, low, high = searches.median_interval([draw.random() for _ in range(count)])
                enclosed += low <= 0.5 <= high
            self.assertGreater(enclosed / 4000, 0.92)
            self.assertLess(enclosed / 4000, 0.98)

    def test_a_search_that_needs_half_of_the_best_other_one_is_0_5_of_others(self):
        curves = [{search: {"improvements": [[tried, 1.0]]}
                   for search, tried in (("post", 10), ("placement-ppo", 20), ("placement-cem", 30), ("softmax-reinforce", 40))}]
        self.assertEqual(searches.medians_of(searches.samples_by_search(curves, 1.0, 100))["post_of_others"], 0.5)
        self.assertEqual(searches.medians_of(searches.samples_by_search(curves, 0.5, 100))["post_of_others"], 1)

    def test_the_samples_of_all_small_networks_are_pooled_and_none_may_be_missing(self):
        networks = len(searches.settings()["small"]["networks"])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for number in range(1, 1 + networks):
                (folder / f"small-{number}").mkdir()
                (folder / f"small-{number}/samples.json").write_text(json.dumps(
                    {search: [number, 100 * number] if search == "post" else [50 * number] for search in searches.LEARNED}))
            values = searches.pooled(folder)
            self.assertEqual(values["post"], 0.5 * (networks + 100))
            self.assertEqual(values["placement-cem"], 25 * (networks + 1))
            (folder / "small-1/samples.json").unlink()
            with self.assertRaises(SystemExit):
                searches.pooled(folder)

    def test_post_has_to_be_faster_than_rules_that_are_not_optimal_alone(self):
        steps = {method: 1.0 for method in ("post", "annealing", *searches.RULES)}
        self.assertEqual(searches.post_of_rules(steps)["post_of_not_optimal"], 0)
        values = searches.post_of_rules(steps | {"expert": 2.0, "METIS": 4.0})
        self.assertEqual(values["post_of_not_optimal"], 0.5)
        self.assertEqual(values["post_of_HEFT"], 1)
        # As good as a rule, where annealing shows that there is something better.
        self.assertEqual(searches.post_of_rules(steps | {"annealing": 0.9})["post_of_not_optimal"], 1)

    def test_a_policy_is_compared_by_the_medians_of_its_steps(self):
        curves = [{"post": {"step_seconds": post}, "policy": {"step_seconds": 0.11}, "policy samples": {"step_seconds": 0.1},
                   "policy refined": {"step_seconds": refined}, "first choices": {"step_seconds": 0.12}}
                  for post, refined in ((0.1, 0.1), (0.09, 0.08), (0.2, 0.3))]
        values = searches.policy_against_post(curves)
        self.assertAlmostEqual(values["policy_of_post"], 1.1)
        self.assertAlmostEqual(values["tenth_of_post"], 1)
        self.assertAlmostEqual(values["first_choices_of_post"], 1.2)
        del curves[0]["policy"]["step_seconds"], curves[1]["policy"]["step_seconds"]
        self.assertEqual(searches.policy_against_post(curves)["policy_of_post"], math.inf)


class SettingsTest(unittest.TestCase):
    def test_a_policy_is_judged_on_three_networks_where_its_samples_are_a_tenth(self):
        settings = searches.settings()
        self.assertEqual(len(settings["policy"]["networks"]), 3)
        self.assertTrue(all(name in settings["large"] for name in settings["policy"]["networks"]))
        self.assertGreater(settings["policy"]["evaluations"] // 10 - settings["policy"]["refine"] - 1, 0)

    def test_a_policy_s_simulations_are_those_of_each_group_on_each_device_of_the_files(self):
        settings = searches.settings()
        self.assertFalse([name for name in settings["policy"]["networks"] if settings["large"][name]["overrides"]])
        data = searches.ROOT / "data/placement"
        # 27 groups; four GPUs and a processor.
        self.assertEqual(searches.simulations_of_choices(data / "graphs/nmt.json", data / "devices/k80.toml"), 27 * 5)

    def test_every_search_has_as_many_configurations_and_one_of_them_is_chosen(self):
        settings = searches.settings()
        counts = {len(configurations) for configurations in settings["configurations"].values()}
        self.assertEqual(len(counts), 1)
        for size in ("small", "large"):
            self.assertEqual(set(settings["chosen"][size]), set(searches.LEARNED))
            self.assertTrue(all(1 <= number <= max(counts) for number in settings["chosen"][size].values()))

    def test_no_network_or_seed_for_tuning_is_judged(self):
        settings = searches.settings()
        tuned = settings["tuning"]["small"] + settings["tuning"]["large"]
        self.assertFalse({one["seed"] for one in tuned} & {one["seed"] for one in settings["small"]["networks"]})
        self.assertFalse(set(settings["tuning"]["small_seeds"]) & set(settings["small"]["seeds"]))
        self.assertFalse(set(settings["tuning"]["large_seeds"]) & set(settings["large"]["seeds"]))


class GraphsTest(unittest.TestCase):
    def test_a_network_is_a_function_of_its_seed_and_reads_what_stands_before_it(self):
        self.assertEqual(graphs.network(3, 12), graphs.network(3, 12))
        self.assertNotEqual(graphs.network(3, 12), graphs.network(4, 12))
        operations = json.loads(graphs.network(3, 12))["operations"]
        self.assertEqual(len(operations), 36)
        for i, operation in enumerate(operations):
            for read in operation["inputs"]:
                self.assertLess(read if isinstance(read, int) else read[0], i)
        parameter_bytes = sum(operation["parameter_bytes"] for operation in operations)
        self.assertTrue(math.isclose(parameter_bytes, 3 * 2**30, rel_tol=1e-6))

    def test_devices_are_a_function_of_their_seed_and_all_are_linked(self):
        self.assertEqual(graphs.devices(3, 4), graphs.devices(3, 4))
        tables = tomllib.loads(graphs.devices(3, 4))["placement"]
        self.assertEqual([device["name"] for device in tables["device"]], tables["link"][0]["from"])


if __name__ == "__main__":
    unittest.main()
