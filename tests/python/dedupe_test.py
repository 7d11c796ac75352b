"""deduplicate_indices."""

import hashlib
import random
import unittest

import oomplan


def plainly(rows, existing=()):
    seen = set(existing)
    indices, hashes = [], []
    for index, row in enumerate(rows):
        digest = hashlib.sha256(row.encode()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            indices.append(index)
            hashes.append(digest)
    return indices, hashes


class Dedupe(unittest.TestCase):
    def test_it_is_what_a_set_of_sha256_says(self):
        rng = random.Random(5)
        for count in (0, 1, 10, 20_000):
            rows = ["".join(rng.choices("ab é日🚀\0", k=rng.randrange(6))) for _ in range(count)]
            known = plainly(rows[: count // 3])[1][::2]
            self.assertEqual(oomplan.deduplicate_indices(rows), plainly(rows))
            self.assertEqual(oomplan.deduplicate_indices(rows, known, 3), plainly(rows, known))

    def test_texts_of_the_same_bytes_and_another_width_differ(self):
        rows = ["ab", "\u6261", "ab\0\0", "\U00016261", "ba", "ab"]
        self.assertEqual(oomplan.deduplicate_indices(rows)[0], [0, 1, 2, 3, 4])

    def test_any_sequence_of_texts_will_do(self):
        self.assertEqual(
            oomplan.deduplicate_indices(rows=("a", "b", "a"), existing_hashes=[], num_threads=0)[0], [0, 1]
        )

    def test_arrays_of_texts_are_sequences_too(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("numpy is not here")
        rows = ["a", "b", "a", "é"]
        for kind in (None, object):
            array = np.array(rows, kind)
            self.assertEqual(oomplan.deduplicate_indices(array), plainly(rows))
            known = plainly(rows[:1])[1]
            self.assertEqual(oomplan.deduplicate_indices(array, np.array(known, kind)), plainly(rows, known))
            self.assertEqual(oomplan.deduplicate_indices(array, np.array([], str)), plainly(rows))
        for wrong in (np.array([1]), np.array("a")):
            with self.assertRaises(TypeError):
                oomplan.deduplicate_indices(wrong)

    def test_arguments(self):
        for error, arguments in (
            (TypeError, ("ab",)),
            (TypeError, ({"a"},)),
            (TypeError, ([b"a"],)),
            (TypeError, ([1],)),
            (TypeError, (iter(["a"]),)),
            (TypeError, (["a"], {"x"})),
            (TypeError, ({"a": 0},)),
            (TypeError, (["a"], [1])),
            (TypeError, (["a"], [None])),
            (TypeError, (["a"], "")),
            (TypeError, (["a"], {})),
            (OverflowError, (["a"], None, -1)),
            (UnicodeEncodeError, (["\ud800"],)),
        ):
            with self.subTest(arguments=arguments), self.assertRaises(error):
                oomplan.deduplicate_indices(*arguments)


if __name__ == "__main__":
    unittest.main()
