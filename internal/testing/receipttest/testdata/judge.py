"""Judges receipts: one JSON object per line on standard input, with text and policy; one line
of output for each, the proven facts or why it was refused."""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "receipt"))
import verify

for line in sys.stdin:
    case = json.loads(line)
    try:
        judge = verify.verify_promise if case.get("promise") else verify.verify
        facts = judge(case["text"], case["policy"])
    except verify.Refused as refused:
        facts = {"refused": refused.code}
    print(json.dumps(facts))
