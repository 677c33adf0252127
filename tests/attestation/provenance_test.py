#!/usr/bin/env python3
"""The provenance of a release (ci/releasing) as in-toto's own library reads it: each field is one of the statement's or the predicate's,
and the statement is valid. Runs with the Python of `ci/deps attestation`; without it: exit 77."""
import pathlib
import sys
import tempfile
import unittest

try:
    from google.protobuf import json_format
    from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement
except ImportError as missing:
    print(f"skipped: {missing}: run ci/deps attestation")
    sys.exit(77)

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from releasing import artifacts, command, provenance  # noqa: E402: found by the line above

SOURCE = command.Source("1.2.3", "0123456789abcdef0123456789abcdef01234567", 1700000000)


class Provenance(unittest.TestCase):
    def test_it_is_a_statement_with_slsas_predicate(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for subject in artifacts.subjects(SOURCE.version):
                (folder / subject).write_text(subject)
            for built in (True, False):
                value = provenance.statement(ROOT, folder, SOURCE, built=built, builder="https://ci.example.com/runner")
                statement = json_format.ParseDict(value, statement_pb2.Statement())  # an unknown field is an error
                Statement.copy_from_pb(statement).validate()
                predicate = json_format.ParseDict(value["predicate"], provenance_pb2.Provenance())
                self.assertEqual(predicate.run_details.builder.id, "https://ci.example.com/runner")
                self.assertEqual(predicate.build_definition.resolved_dependencies[0].digest["gitCommit"], SOURCE.commit)
                self.assertEqual(len(statement.subject), len(artifacts.subjects(SOURCE.version)))


if __name__ == "__main__":
    unittest.main()
