# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import subprocess
import tempfile
import unittest

import bars
import proof
import replay_proofs


class ProofTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "state"
        self.calls = pathlib.Path(folder.name) / "calls"
        self.lines = []

    def piece(self, name, then="true", **rest):
        return proof.Piece(name, ["sh", "-c", f"echo {name} >>{self.calls}; {then}"], **rest)

    def run_all(self, *pieces):
        self.lines = []
        return proof.run(proof.Proof("some", "", list(pieces)), self.folder,
                         say=lambda line, **_: self.lines.append(line))

    def called(self):
        return self.calls.read_text().split()

    def test_an_interrupted_proof_goes_on_with_the_piece_that_was_interrupted(self):
        def interrupted(*_):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.run_all(self.piece("a"), self.piece("b", measure=interrupted), self.piece("c"))
        self.assertEqual(self.called(), ["a", "b"])
        self.assertTrue(self.run_all(self.piece("a"), self.piece("b"), self.piece("c")))
        self.assertEqual(self.called(), ["a", "b", "b", "c"])
        self.assertEqual([line.split()[0] for line in self.lines[-3:]], ["a", "b", "c"])

    def test_a_finished_proof_only_prints_its_table_again(self):
        self.assertTrue(self.run_all(self.piece("a")))
        self.assertTrue(self.run_all(self.piece("a")))
        self.assertEqual(self.called(), ["a"])

    def test_a_value_that_misses_its_bar_is_named_in_the_table(self):
        low = self.piece("a", measure=lambda *_: {"success": 0.9}, bars={"success": (">=", 0.97)})
        high = self.piece("b", measure=lambda *_: {"success": 0.98}, bars={"success": (">=", 0.97)})
        self.assertFalse(self.run_all(low, high))
        self.assertIn("success >= 0.97", self.lines[-3])
        self.assertIn("misses success", self.lines[-2])
        self.assertTrue(self.lines[-1].endswith("holds"))

    def test_a_measurement_without_a_bar_may_be_words(self):
        self.assertTrue(self.run_all(self.piece("a", measure=lambda *_: {"off": 0.125, "limit": "threads of replay"},
                                                bars={"off": ("<=", 0.2)})))
        self.assertEqual(self.lines[-1], "a      0.125       0.000    threads of replay  holds")

    def test_a_piece_that_measures_nothing_misses_its_bar(self):
        self.assertFalse(self.run_all(self.piece("a", bars={"success": (">=", 0.97)})))

    def test_output_that_cannot_be_measured_is_a_result_and_the_next_piece_runs(self):
        self.assertFalse(self.run_all(self.piece("a", measure=lambda *_: {"last": [][-1]}), self.piece("b")))
        self.assertIn("nothing to measure", self.lines[-2])
        self.assertEqual(self.called(), ["a", "b"])

    def test_a_command_that_fails_is_a_result_and_the_next_piece_runs(self):
        self.assertFalse(self.run_all(self.piece("a", "exit 3"), self.piece("b")))
        self.assertIn("exit code 3", self.lines[-2])
        self.assertEqual(self.called(), ["a", "b"])

    def test_a_piece_that_takes_too_long_is_ended_with_what_it_started(self):
        self.assertFalse(self.run_all(self.piece("a", "sleep 1000 & sleep 1000", limit_seconds=0.2)))
        self.assertIn("took more than", self.lines[-1])

    def test_each_piece_starts_with_an_empty_folder(self):
        piece = proof.Piece("a", ["sh", "-c", "test -z \"$(ls {folder})\""])
        (self.folder / "a").mkdir(parents=True)
        (self.folder / "a" / "left").touch()
        self.assertTrue(self.run_all(piece))


    def test_of_a_group_only_enough_pieces_and_the_median_have_to_hold(self):
        def seed(number, steps):
            return self.piece(f"dqn-task-{number}", measure=lambda *_: {"steps": steps}, bars={"steps": ("<=", 100)})

        def holds(least, median):
            group = proof.Group("dqn-task", least, {"steps": ("<=", median)})
            return proof.run(proof.Proof("some", "", pieces, [group]), self.folder,
                             say=lambda line, **_: self.lines.append(line))

        pieces = [seed(1, 50), seed(2, 70), seed(3, 1000)]
        self.assertTrue(holds(2, 70))
        self.assertIn("2 of 3", self.lines[-1])
        self.assertEqual([line.split()[1:3] for line in self.lines[-3:]],
                         [["min", "50.000"], ["max", "1000.000"], ["median", "70.000"]])
        self.assertFalse(holds(3, 70))
        self.assertFalse(holds(2, 60))
        pieces.append(self.piece("alone", bars={"steps": ("<=", 100)}))
        self.assertFalse(holds(2, 1000))

    def test_some_groups_and_pieces_run_alone_and_the_whole_proof_goes_on_with_the_rest(self):
        names = ["dqn-cartpole-1", "dqn-cartpole-2", "dqn-cartpole-masked-1", "alone"]
        whole = proof.Proof("some", "", [self.piece(name) for name in names],
                            [proof.Group("dqn-cartpole", 2), proof.Group("dqn-cartpole-masked", 1)])

        def run(some):
            self.lines = []
            return proof.run(some, self.folder, say=lambda line, **_: self.lines.append(line))

        self.assertTrue(run(proof.only(whole, ["dqn-cartpole"])))
        self.assertEqual(self.called(), ["dqn-cartpole-1", "dqn-cartpole-2"])
        self.assertIn("holds (2 of 2, 2 needed)", self.lines[-1])
        self.assertTrue(run(proof.only(whole, ["alone", "dqn-cartpole-2"])))
        self.assertEqual(self.called()[2:], ["alone"])
        self.assertTrue(run(whole))
        self.assertEqual(self.called()[3:], ["dqn-cartpole-masked-1"])
        with self.assertRaisesRegex(ValueError, "no group or piece sac; there are: dqn-cartpole, dqn-cartpole-masked, alone$"):
            proof.only(whole, ["dqn-cartpole", "sac"])

    def test_what_is_forgotten_of_some_groups_leaves_the_others_finished(self):
        whole = proof.Proof("some", "", [self.piece("a-1"), self.piece("b-1")], [proof.Group("a", 1), proof.Group("b", 1)])
        self.assertTrue(proof.run(whole, self.folder, say=lambda *_, **__: None))
        proof.forget(proof.only(whole, ["a"]), self.folder)
        self.assertTrue(proof.run(whole, self.folder, say=lambda *_, **__: None))
        self.assertEqual(self.called(), ["a-1", "b-1", "a-1"])


class BarsTest(unittest.TestCase):
    def test_documents_and_commits_forget_no_piece_and_sources_do(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)

            def git(*words):
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True,
                               capture_output=True)

            def write(name, text):
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)

            self.assertEqual(bars.digest_of_sources(root), "unknown")
            git("init")
            for name in ("README.md", "docs/a.svg", "lib/README.md", "lib/a.cc", "lib/b.cc"):
                write(name, "1")
            git("add", ".")
            first = bars.digest_of_sources(root)
            git("commit", "-m", "first")
            for name in ("README.md", "docs/a.svg", "lib/README.md"):
                write(name, "2")
            self.assertEqual(bars.digest_of_sources(root), first)
            write("lib/a.cc", "2")
            second = bars.digest_of_sources(root)
            self.assertNotEqual(second, first)
            git("commit", "-a", "-m", "second")
            self.assertEqual(bars.digest_of_sources(root), second)
            (root / "lib/b.cc").unlink()
            third = bars.digest_of_sources(root)
            self.assertNotEqual(third, second)
            write("lib/c.cc", "1")
            fourth = bars.digest_of_sources(root)
            self.assertNotEqual(fourth, third)
            write(".gitignore", "*.log")
            ignoring = bars.digest_of_sources(root)
            write("lib/a.log", "1")
            self.assertEqual(bars.digest_of_sources(root), ignoring)

    def test_every_proof_has_a_name_and_pieces_of_their_own(self):
        proofs = bars.all_proofs()
        self.assertEqual(len({one.name for one in proofs}), len(proofs))
        for one in proofs:
            self.assertTrue(one.pieces)
            names = [piece.name for piece in one.pieces]
            self.assertEqual(len(set(names)), len(names))

    def test_rates_of_prioritized_tables_are_compared_with_those_of_the_same_round(self):
        line = '{"bench":"replay_%s","%s":%d,"selector":"%s","shared_memory":%s,"ceiling_share":%s}\n'
        rounds = [(100, 90), (50, 40), (10, 11)]
        output = "".join(line % (phase, rate, number, selector, "false", "0.5") for uniform, prioritized in rounds
                         for selector, number in (("uniform", uniform), ("prioritized", prioritized))
                         for phase, rate in (("insert", "inserted_per_second"), ("sample", "sampled_per_second")))
        self.assertEqual(replay_proofs.measure_selectors(None, output), {"insert_of_uniform": 0.9, "sample_of_uniform": 0.9})
        ways = [("insert", "true", "0.7"), ("insert", "false", "0.3"), ("sample", "true", "0.9"), ("sample", "false", "0.4")]
        output = "".join(line % (phase, "rate", 1, "uniform", shared, share) for phase, shared, share in ways)
        self.assertEqual(replay_proofs.measure_rings(None, output), {"insert_of_ceiling": 0.7, "sample_of_ceiling": 0.9})

    def test_a_run_that_missed_its_bar_tells_the_best_return_and_infinitely_many_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "run").mkdir()
            (pathlib.Path(folder) / "run/evaluations.jsonl").write_text('{"return": 30.5}\n{"return": 480}\n{"return": 9}\n')
            result = pathlib.Path(folder) / "run/result.json"
            result.write_text('{"line": "result greedy=9.0 env_steps=300000 seconds=3"}')
            missed = replay_proofs.measure_size(pathlib.Path(folder), "")
            self.assertEqual((missed["reached"], missed["best"]), (float("inf"), 480))
            result.write_text('{"line": "result greedy=490.0 reached_steps=40000 env_steps=41000 seconds=3"}')
            self.assertEqual(replay_proofs.measure_size(pathlib.Path(folder), "")["reached"], 40000)

    def test_retrieval_is_the_mean_over_vendors_of_evaluates_phrasings_and_own_words(self):
        with tempfile.TemporaryDirectory() as folder:
            state = pathlib.Path(folder)
            for number, capture in enumerate(bars.VENDORS):
                scores = " ".join(f"{kind}_{encoder}_{score}={number + (kind == 'own_words')}"
                                  for kind in ("evaluation", "own_words")
                                  for encoder in ("both", "lexical", "sentence", "tuned") for score in ("top1", "top5", "mrr"))
                values = bars.measure_unseen(None, f"a table\nresult held_out={capture} seeds=3 {scores}\n")
                self.assertEqual((values["evaluate_tuned_mrr"], values["own_minilm_top5"]), (number, number + 1))
                (state / f"{capture}.json").write_text(json.dumps({"values": {"minutes": 3, **values}, "failure": ""}))
            mean = bars.mean_of_pieces(bars.VENDORS)(state / "mean", "")
            self.assertEqual((mean["evaluate_lexical_top1"], mean["own_tuned_mrr"]), (1, 2))
            self.assertNotIn("minutes", mean)
            (state / "dell-r750.json").write_text('{"values": {}, "failure": "exit code 1"}')
            with self.assertRaises(KeyError):
                bars.mean_of_pieces(bars.VENDORS)(state / "mean", "")

    def test_the_worst_pair_is_that_of_the_learned_policy(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "run").mkdir()
            (pathlib.Path(folder) / "run/result.json").write_text("""{
                "line": "result success=0.9 episodes=2 steps_per_optimal=1.2 env_steps=70 seconds=3",
                "totals": {"learned": {"success": 0.9, "steps_per_optimal": 1.2}},
                "pairs": [{"policy": "learned", "episodes": 1, "success": 0.8},
                          {"policy": "learned", "episodes": 0, "success": 0},
                          {"policy": "uniform", "episodes": 1, "success": 0.1}]}""")
            self.assertEqual(bars.measure_goals(pathlib.Path(folder), "")["worst_pair"], 0.8)

    def test_a_curve_is_in_proportion_between_evaluations_and_unknown_past_the_last_step(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "run").mkdir()
            (pathlib.Path(folder) / "run/evaluations.jsonl").write_text(
                '{"seconds": 15, "environment_steps": 20000, "success": 0.5}\n'
                '{"seconds": 45, "environment_steps": 40000, "success": 0.7}\n')
            (pathlib.Path(folder) / "run/result.json").write_text(
                '{"line": "result success=0.8 env_steps=90000 seconds=140", "totals": {"learned": {"success": 0.8}}}')
            curve = bars.measure_curve(pathlib.Path(folder), "")
            self.assertAlmostEqual(curve["s30"], 0.6)
            self.assertEqual((curve["s60"], curve["s120"], curve["final"]), (0.7, 0.7, 0.8))
            self.assertAlmostEqual(curve["k25"], 0.55)
            self.assertEqual(curve["k50"], float("inf"))

    def test_what_recovered_is_judged_by_its_worst_run(self):
        worst = bars.measure_recovery(None, "recovered greedy=500 updates=40 env_steps=9\nrecovered greedy=480 updates=90 env_steps=7\n")
        self.assertEqual(worst, {"greedy": 480, "updates": 90, "env_steps": 9})


if __name__ == "__main__":
    unittest.main()
