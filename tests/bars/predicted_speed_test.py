# SPDX-License-Identifier: Apache-2.0
import os
import unittest

import predicted_speed


def row(steps, learner, rows=100):
    return {"environment_steps_per_second": steps,
            "details": {"learner_rows_per_second": rows, "process_cpu_seconds/learner": learner,
                        "process_cpu_seconds/actor": 0.25}}


class PredictedSpeedTest(unittest.TestCase):
    def test_costs_are_of_the_second_half_of_the_seconds_in_which_a_learner_trained(self):
        rows = [row(1, 1, rows=0), row(1, 1), row(1, 1), row(1, 1), row(1, 1, rows=0), {"details": {}}]
        self.assertEqual(predicted_speed.second_half(rows), [2, 3])

    def test_the_machine_has_what_other_programs_left(self):
        asked = []

        def simulate(processors):
            asked.append(processors)
            return {"environment_steps_per_second": 90, "limit": "processors of machine",
                    "processor_time": {"learner": 0.5, "actor": 0.2}}

        # 0.75 processors are the run's, so others keep 0.4 of them busy.
        found = predicted_speed.compare([row(50, 0.4), row(150, 0.6)], 1.15, simulate)
        self.assertAlmostEqual(asked[0], os.cpu_count() - 0.4)
        self.assertEqual((found["measured"], found["simulated"], found["ratio"]), (100, 90, 0.9))
        self.assertAlmostEqual(found["off"], 0.1)
        self.assertEqual((found["measured_most"], found["simulated_most"]), ("learner 0.50", "learner 0.50"))

    def test_a_processor_is_busy_with_everything_but_waiting(self):
        ticks = os.sysconf("SC_CLK_TCK")
        words = [ticks * factor for factor in (1, 2, 4, 1000, 1000, 8, 16, 32, 1000, 1000)]
        self.assertEqual(predicted_speed.busy_seconds("cpu  " + " ".join(map(str, words)) + "\ncpu0 1"), 63)

    def test_the_machine_is_watched_while_the_rows_were_written(self):
        machine = predicted_speed.Machine(None)
        machine.notes = [(0, 10, 5), (3, 20, 6), (4, 30, 16), (6, 40, 31), (7, 50, 90)]
        self.assertAlmostEqual(machine.busy_between(2, 5), 25 / 20)


if __name__ == "__main__":
    unittest.main()
