#!/usr/bin/env python3
"""The statement (--attestation) of real runs in the hands of others: read by in-toto's own library, signed and verified as
a DSSE envelope, and put to the conditions of the admission rule.

usage: signing_test.py --tree BUILD/stage --plugins DIR    with the Python of `ci/deps attestation`
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import jmespath
    import yaml
    from google.protobuf import json_format
    from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import CryptoSigner
except ImportError as missing:
    print(f"skipped: {missing}: run ci/deps attestation")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IMAGE = "registry.example/train@sha256:" + "a" * 64
PAYLOAD_TYPE = "application/vnd.in-toto+json"
OPTIONS = None


def statement_of(check, *, engine=True, name="cu12"):
    """The bytes of the statement about an image on which this check of the test plugin is run."""
    with tempfile.TemporaryDirectory() as folder:
        matrix, config, out = (pathlib.Path(folder) / n for n in ("matrix.json", "image.json", "statement.json"))
        matrix.write_text(json.dumps({"schema": "cudnn-ci/matrix/1", "name": name, "checks": [{"check": check}]}))
        config.write_text(json.dumps([{"RepoDigests": [IMAGE] if engine else [], "Config": {"Env": []}}]))
        subprocess.run([OPTIONS.tree / "bin/cudnn-ci", "--matrix", matrix, "--plugin-dir", OPTIONS.plugins, "--output-dir",
                        pathlib.Path(folder) / "report", "--subject-image", IMAGE, "--image-config", config,
                        "--attestation", out], capture_output=True, timeout=120)
        return out.read_bytes()


def conditions():
    policy = yaml.safe_load((ROOT / "ci/kubernetes/admission-kyverno.yaml").read_text())
    attestation = policy["spec"]["rules"][0]["verifyImages"][0]["attestations"][0]
    return attestation["type"], attestation["conditions"][0]["all"]


def admits(statement, matrix):
    """What the rule says of a statement that is signed: its type, and each condition on its predicate; `matrix` is the hash it names."""
    wanted, rules = conditions()
    if statement["predicateType"] != wanted:
        return False
    for rule in rules:
        expression = re.fullmatch(r"\{\{ (.*) \}\}", rule["key"]).group(1)
        value = jmespath.search(expression, statement["predicate"])
        allowed = rule["value"] if rule["operator"] == "AnyIn" else [rule["value"].replace("MATRIX_SHA256", matrix)]
        assert rule["operator"] in ("AnyIn", "Equals"), rule
        if value not in allowed:
            return False
    return True


class Signing(unittest.TestCase):
    def test_in_totos_library_takes_it(self):
        for check, result in (("fixture.pass", "PASSED"), ("fixture.fail", "FAILED")):
            text = statement_of(check).decode()
            statement = Statement.copy_from_pb(json_format.Parse(text, statement_pb2.Statement()))
            statement.validate()
            self.assertEqual(statement.pb.subject[0].digest["sha256"], "a" * 64)
            predicate = json_format.ParseDict(json.loads(text)["predicate"], test_result_pb2.TestResult(), ignore_unknown_fields=True)
            self.assertEqual(predicate.result, result)
            self.assertIn("matrix cu12", [c.name for c in predicate.configuration])
            for configuration in predicate.configuration:
                self.assertRegex(configuration.digest["sha256"], "^[0-9a-f]{64}$", configuration.name)
            # What it does not know is our extension alone.
            known = set(json_format.MessageToDict(predicate, always_print_fields_with_no_presence=True)) | {"urn:cudnn-ci:gate:1"}
            self.assertLessEqual(set(json.loads(text)["predicate"]), known)

    def test_a_signature_holds_for_these_bytes_alone(self):
        payload = statement_of("fixture.pass")
        signer, other = CryptoSigner.generate_ed25519(), CryptoSigner.generate_ed25519()
        envelope = Envelope(payload, PAYLOAD_TYPE, {})
        envelope.sign(signer)
        read = Envelope.from_dict(json.loads(json.dumps(envelope.to_dict())))
        self.assertIn(signer.public_key.keyid, read.verify([signer.public_key], 1))
        self.assertEqual(read.payload, payload)
        with self.assertRaises(VerificationError):
            read.verify([other.public_key], 1)
        read.payload = payload.replace(b"PASSED", b"FAILED")
        self.assertNotEqual(read.payload, payload)
        with self.assertRaises(VerificationError):
            read.verify([signer.public_key], 1)

    def test_the_admission_rule_lets_in_what_passed_and_nothing_else(self):
        passed = json.loads(statement_of("fixture.pass"))
        gate = passed["predicate"]["urn:cudnn-ci:gate:1"]
        self.assertTrue(admits(passed, gate["matrix"]["sha256"]))
        self.assertTrue(admits({**passed, "predicate": {**passed["predicate"], "result": "WARNED"}}, gate["matrix"]["sha256"]))
        # The same name, and another content: with waivers, say.
        self.assertFalse(admits(passed, "0" * 64))
        for other in (json.loads(statement_of("fixture.fail")), json.loads(statement_of("fixture.pass", engine=False)),
                      json.loads(statement_of("fixture.pass", name="first")), {**passed, "predicateType": "https://slsa.dev/provenance/v1"}):
            own = other["predicate"]["urn:cudnn-ci:gate:1"]["matrix"]["sha256"]
            self.assertFalse(admits(other, own))
        self.assertFalse(admits({**passed, "predicate": {"result": "PASSED"}}, gate["matrix"]["sha256"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--plugins", type=pathlib.Path, required=True)
    OPTIONS = parser.parse_args()
    unittest.main(argv=sys.argv[:1], verbosity=2)
