#!/usr/bin/env python3
"""Verifies receipts of Lineproof without a network and without trusting the service.

    python3 verify.py receipt.json policy.txt

Receipts of supplied files are verified by the command lineproof receipt verify only.

The policy is the public key of the log, or a policy that names witnesses, too
(c2sp.org/tlog-policy), from somebody you trust. docs/reference/receipt.md describes what
is verified. In a program:

    proven = verify(text, policy)             # raises Refused unless the receipt is right
    promised = verify_promise(text, policy)   # of a receipt that came with an answer

It needs Python 3.9 or newer and the package cryptography, for Ed25519 (Debian's
python3-cryptography, or pip install cryptography).
"""

import base64
import hashlib
import json
import re
import sys
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WORDS = {
    "policy": "this is not a policy, nor the public key of a log",
    "format": "this is not a receipt that this version can read",
    "promise": "it is a promise and not yet a proof",
    "unpromised": "the promise is not signed for this answer by a key that the log certified, or a signature is wrong",
    "record": "the record is not in the canonical encoding",
    "batch": "the record is not in the batch",
    "proof": "the proof is not in the form c2sp.org/tlog-proof@v1",
    "checkpoint": "the checkpoint is not signed by the key of the log, or a signature is wrong",
    "quorum": "too few witnesses have seen the checkpoint",
    "log": "the batch is not in the log",
}


class Refused(Exception):
    """Says why a receipt proves nothing: code is a key of WORDS."""

    def __init__(self, code):
        super().__init__(WORDS[code])
        self.code = code


def must(ok, code):
    if not ok:
        raise Refused(code)


MAX_NUMBER = 2**53 - 1  # the largest that every verifier can compute with
MAX_SIZE = 1 << 20


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def decode(text, code, length=None):
    """Reads base64, in the only spelling that there is."""
    must(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", text) and len(text) % 4 == 0, code)
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused(code) from None
    must(base64.b64encode(raw).decode() == text and length in (None, len(raw)), code)
    return raw


def number(text, code):
    """Reads a number, in the only spelling that there is."""
    must(re.fullmatch(r"0|[1-9][0-9]{0,15}", text) and int(text) <= MAX_NUMBER, code)
    return int(text)


class Fields:
    """Reads fields, each of which has its length before it."""

    def __init__(self, part, name):
        self.rest = part
        must(self.take(len(name)) == name, "record")

    def take(self, n):
        must(len(self.rest) >= n, "record")
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken

    def bytes(self, length=None):
        n = int.from_bytes(self.take(4), "big")
        must(length in (None, n), "record")
        return self.take(n)

    def text(self):
        try:
            return self.bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("record") from None

    def number(self):
        n = int.from_bytes(self.bytes(8), "big")
        must(n <= MAX_NUMBER, "record")
        return n

    def id(self):
        return str(uuid.UUID(bytes=self.bytes(16)))


def read_record(whole, size=None, erased=None):
    """Decodes the record and returns it with its hash. Behind the public part is the personal part, or its hash."""
    f = Fields(whole, b"lineproof record 1\n")
    rec = {"requestId": f.id(), "at": f.number(), "type": f.text(), "entity": f.id(), "key": f.id()}
    for name in ("mode", "purpose", "purposeText", "status", "reason", "mobileNetwork"):
        rec[name] = f.text()
    for name in ("lineVersion", "policyVersion", "planVersion", "rules"):
        rec[name] = f.number()
    rec["coverage"] = f.bytes().hex()
    inner = f.rest
    public = whole[: len(whole) - len(inner)]
    rec["erased"] = len(inner) == 32
    must(size in (None, len(public)) and erased in (None, rec["erased"]), "record")
    if rec["erased"]:
        return rec, sha256(whole)
    p = Fields(inner, b"lineproof personal part 1\n")
    rec["number"] = p.number()
    for name in ("phoneNumber", "correlator", "externalId", "onBehalfOf", "options", "extra"):
        rec[name] = p.text()
    must(len(p.rest) == 16, "record")  # the nonce
    return rec, sha256(public, sha256(inner))


def leads(leaf, index, size, path, root):
    """Whether a path leads from a leaf to the root (RFC 9162, section 2.1.3.2)."""
    if index >= size:
        return False
    node, fn, sn = sha256(b"\0", leaf), index, size - 1
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            node = sha256(b"\1", p, node)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            node = sha256(b"\1", node, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and node == root


def read_key(text, algorithm, code="policy"):
    """Reads a public key; its algorithm is 1 of a log and 4 of a witness."""
    m = re.fullmatch(r"([!-*,-~]+?)\+([0-9a-f]{8})\+(.*)", text)
    must(m, code)
    raw = decode(m[3], code, 33)
    key_id = sha256(m[1].encode() + b"\n", raw)[:4]
    must(raw[0] == algorithm and key_id.hex() == m[2], code)
    return m[1], (m[1], key_id), Ed25519PublicKey.from_public_bytes(raw[1:])


class Policy:
    """Says whom a verifier believes: a log, and how many of which witnesses."""

    def __init__(self, text):
        self.log = self.quorum = None
        self.keys = {}  # by name and id: the key, and the name of the witness
        self.known = {}  # witnesses, None, and groups: how many of whom
        if not re.search(r"\s", text.strip()):
            text = "log " + text.strip() + "\nquorum none"
        for line in text.split("\n"):
            fields = [x for x in re.split(r"[ \t\r]+", line) if x]
            if fields and not fields[0].startswith("#"):
                self.read(fields[0], fields[1:])
        must(self.log and self.quorum, "policy")

    def read(self, kind, args):
        fresh = args and args[0] != "none" and args[0] not in self.known
        if kind == "log" and 1 <= len(args) <= 2 and not self.log:
            self.origin, self.log, key = read_key(args[0], 1)
            self.keys[self.log] = (key, None)
        elif kind == "witness" and 2 <= len(args) <= 3 and fresh:
            _, key_id, key = read_key(args[1], 4)
            must(key_id not in self.keys, "policy")
            self.keys[key_id] = (key, args[0])
            self.known[args[0]] = None
        elif kind == "group" and len(args) >= 3 and fresh:
            members = args[2:]
            least = {"any": 1, "all": len(members)}.get(args[1]) or number(args[1], "policy")
            must(0 < least <= len(members) == len(set(members)) and all(m in self.known for m in members), "policy")
            self.known[args[0]] = (least, members)
        else:
            must(kind == "quorum" and len(args) == 1 and not self.quorum and (args[0] == "none" or args[0] in self.known), "policy")
            self.quorum = args[0]

    def satisfied(self, name, seen):
        if name == "none":
            return True
        if self.known[name] is None:
            return name in seen
        least, members = self.known[name]
        return sum(self.satisfied(m, seen) for m in members) >= least


def open_note(note, by, keys, code):
    """Returns the text that a key has signed, and which witnesses have. Signatures of unknown keys are ignored."""
    end = note.rfind("\n\n")
    must(end >= 0 and note.endswith("\n") and not re.search(r"[\0-\x09\x0b-\x1f]", note), code)
    text, lines = note[: end + 1], note[end + 2 : -1].split("\n")
    must(len(lines) <= 100, code)
    signed, witnessed = set(), {}
    for line in lines:
        m = re.fullmatch(r"\u2014 ([!-*,-~]+) ([^ ]+)", line)
        must(m, code)
        sig = decode(m[2], code)
        key_id = (m[1], sig[:4])
        must(len(sig) > 4 and key_id not in signed, code)
        signed.add(key_id)
        if key_id not in keys:
            continue
        key, witness = keys[key_id]
        what, sig = text, sig[4:]
        if witness is not None:
            at, sig = int.from_bytes(sig[:8], "big"), sig[8:]
            must(at <= MAX_NUMBER, code)
            witnessed[witness] = at
            what = f"cosignature/v1\ntime {at}\n{text}"
        try:
            key.verify(sig, what.encode())
        except InvalidSignature:
            raise Refused(code) from None
    must(by in signed, code)
    return text, witnessed


def open_checkpoint(note, policy):
    """Verifies the signatures of a checkpoint."""
    text, witnessed = open_note(note, policy.log, policy.keys, "checkpoint")
    must(policy.satisfied(policy.quorum, witnessed), "quorum")
    lines = text.split("\n")
    must(lines[0] == policy.origin and len(lines) > 3, "checkpoint")
    return number(lines[1], "checkpoint"), decode(lines[2], "checkpoint", 32), witnessed


TLOG_PROOF = "c2sp.org/tlog-proof@v1\n"
ENTRY_NAME = b"lineproof log entry 1\n\x01"
LAYOUT = {"at": 8, "epoch": 8, "n": 8, "count": 4}  # of an entry of the log


def parse(text):
    """Reads a receipt in one of its two forms."""
    must(len(text.encode("utf-8", "replace")) <= MAX_SIZE, "format")
    return parse_tlog_proof(text) if text.startswith(TLOG_PROOF) else parse_json(text)


def parse_tlog_proof(text):
    """Reads the form of c2sp.org/tlog-proof: what it does not know is in its line extra."""
    line, _, proof = text[len(TLOG_PROOF) :].partition("\n")
    must(line.startswith("extra "), "format")
    f = Fields(decode(line[6:], "format"), ENTRY_NAME)
    b = {}
    for m, n in LAYOUT.items():
        b[m] = int.from_bytes(f.take(n), "big")
        must(b[m] <= MAX_NUMBER, "record")
    b["root"] = f.take(32)
    fn = b["index"] = int.from_bytes(f.take(4), "big")
    sn = b["count"] - 1
    must(fn <= sn and b["count"] < 2**31, "record")
    b["path"] = []
    while sn:
        if fn & 1 or fn < sn:
            b["path"].append(f.take(32))
        fn, sn = fn >> 1, sn >> 1
    return {"batch": b, "record": (f.rest,), "promise": "", "key": "", "proof": TLOG_PROOF + proof}


def parse_json(text):
    """Reads the JSON. Numbers have one spelling, and there is nothing but what is described."""

    def refuse(_):
        raise Refused("format")

    def whole(pairs):
        must(len(dict(pairs)) == len(pairs), "format")  # no member stands twice
        # What is half of a pair of surrogates can't be written in UTF-8.
        return {k: re.sub("[\ud800-\udfff]", "\ufffd", v) if isinstance(v, str) else v for k, v in pairs}

    try:
        r = json.loads(text, parse_float=refuse, parse_constant=refuse, parse_int=lambda n: number(n, "format"), object_pairs_hook=whole)
    except (ValueError, RecursionError):
        raise Refused("format") from None
    texts = ("promise", "key", "proof")
    members(r, {"form", "statement", "public", "batch"}, {"personal", "personalHash", *texts})
    b = r["batch"]
    members(b, {*LAYOUT, "index", "path", "root"})
    must(r["form"] == "lineproof receipt 1" and isinstance(r["statement"], str) and isinstance(b["path"], list), "format")
    promise, key, proof = (r.setdefault(m, "") for m in texts)
    must(all(isinstance(r[m], str) for m in texts) and bool(promise) == bool(key) != bool(proof), "format")
    must(all(type(b[m]) is int for m in (*LAYOUT, "index")) and b["count"] < 2**31, "format")
    public, *parts = (decode(r[m], "format") for m in ("public", "personal", "personalHash") if m in r)
    b["root"], b["path"] = decode(b["root"], "format"), [decode(p, "format") for p in b["path"]]
    r["record"] = (public + b"".join(parts), len(public) if len(parts) == 1 else -1, "personal" not in r)
    return r


def members(o, needs, may=frozenset()):
    must(isinstance(o, dict) and needs <= o.keys() <= needs | may, "format")


def read(r):
    """Returns the record of a receipt, and the entry of its batch in the log."""
    b = r["batch"]
    rec, record_hash = read_record(*r["record"])
    whole = all(len(h) == 32 for h in [b["root"], *b["path"]])
    must(b["at"] == rec["at"] and whole and leads(record_hash, b["index"], b["count"], b["path"], b["root"]), "batch")
    return rec, ENTRY_NAME + b"".join(b[m].to_bytes(n, "big") for m, n in LAYOUT.items()) + b["root"]


def verify(text, policy):
    """Returns what a receipt proves. Compare it with what you believe was answered."""
    whom = Policy(policy)
    r = parse(text)
    must(r["proof"], "promise")
    rec, entry = read(r)
    head, found, note = r["proof"].partition("\n\n")
    lines = head.split("\n")
    must(found and len(lines) >= 2 and lines[0] + "\n" == TLOG_PROOF and lines[1].startswith("index "), "proof")
    index = number(lines[1][6:], "proof")
    path = [decode(h, "proof", 32) for h in lines[2:]]
    size, root, witnessed = open_checkpoint(note, whom)
    must(leads(entry, index, size, path, root), "log")
    return {**rec, "origin": whom.origin, "index": index, "size": size, "witnessed": witnessed}


def verify_promise(text, policy):
    """Returns what the log has promised to have, and until when, in a receipt that came with an answer."""
    code = "unpromised"
    whom = Policy(policy)
    r = parse(text)
    rec, entry = read(r)
    must(r["promise"], code)
    certified, _ = open_note(r["key"], whom.log, {whom.log: whom.keys[whom.log]}, code)
    lines = certified.split("\n")
    must(len(lines) == 7 and lines[:3] == ["lineproof key 1", whom.origin, "promise"], code)
    name, key_id, key = read_key(lines[3], 1, code)
    must(name == whom.origin + "/promise" and number(lines[4], code) <= rec["at"] <= number(lines[5], code), code)
    promise, _ = open_note(r["promise"], key_id, {key_id: (key, None)}, code)
    must(promise == f"lineproof promise 1\n{whom.origin}\n{base64.b64encode(entry).decode()}\n60\n", code)
    return {**rec, "origin": whom.origin, "until": rec["at"] + 60_000}


def main(args):
    if len(args) != 2:
        sys.exit("usage: python3 verify.py RECEIPT POLICY")
    with open(args[0], encoding="utf-8") as receipt, open(args[1], encoding="utf-8") as policy:
        text = receipt.read()
        if '"lineproof supply receipt 1"' in text[:200]:
            sys.exit("This is the receipt of a supplied file. Verify it with the command: lineproof receipt verify")
        try:
            print(json.dumps(verify(text, policy.read()), indent=2, ensure_ascii=False))
        except Refused as refused:
            print(f"The receipt proves nothing: {refused}.", file=sys.stderr)
            sys.exit(6)


if __name__ == "__main__":
    main(sys.argv[1:])
