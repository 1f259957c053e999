"""Genotypes and the bases of nucleic acids: ``Aa Bb`` for ``AaBb``, ``5'-ATG CCA-3'`` for ``5'-ATGCCA-3'``.

Each function reads one form, and returns ``None`` for any other text. Texts are in the spelling of ``codes.plain``.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 300

_GENOTYPE = lazy_compile(r"(?:the )?(?:genotypes? )?(?P<loci>(?:([A-Za-z])(?i:\2)[ ,;/|]{0,2}){1,8})(?: genotypes?)?")
_CROSS = lazy_compile(r" ?x ")
_LOCUS = lazy_compile(r"([A-Za-z])(?i:\1)")
_WORD = lazy_compile(r"(?<![^\W_])(?:([A-Za-z])(?i:\1)){1,8}(?![^\W_])")
_STRAND = lazy_compile(r"(?:(?P<first>[53])' ?-? ?)?(?P<bases>[ACGTU](?:[ -]?[ACGTU]){2,})(?: ?-? ?(?P<last>[53])')?")

_PEPTIDE = lazy_compile(
    r"(?:N-terminus-|N-|(?:NH_?2|H_?[23]?N\^?\+?) ?- ?)?(?P<acids>[A-Za-z][A-Za-z ,·-]*?)"
    r"(?: ?- ?(?:COOH|COO\^?-|C)|-C-terminus)?"
)
_GLOSSED_ACID = lazy_compile(r"[A-Za-z]{3,13}(?: acid)? \([A-Z][a-z]{0,12}(?:(?:, |/|; )[A-Z][a-z]{0,2})?\)")
_ACID = lazy_compile(r"(?<=tic|mic) (?=acid)", re.IGNORECASE)
_AMINO_ACIDS = {
    "alanine": "Ala", "arginine": "Arg", "asparagine": "Asn", "aspartic_acid": "Asp", "cysteine": "Cys",
    "glutamine": "Gln", "glutamic_acid": "Glu", "glycine": "Gly", "histidine": "His", "isoleucine": "Ile",
    "leucine": "Leu", "lysine": "Lys", "methionine": "Met", "phenylalanine": "Phe", "proline": "Pro", "serine": "Ser",
    "threonine": "Thr", "tryptophan": "Trp", "tyrosine": "Tyr", "valine": "Val",
}  # fmt: skip
_THREE_LETTERS = frozenset(_AMINO_ACIDS.values())
_ONE_LETTER = {code[0]: code for code in _THREE_LETTERS} | {
    "A": "Ala", "G": "Gly", "L": "Leu", "P": "Pro", "T": "Thr",
    "R": "Arg", "N": "Asn", "D": "Asp", "Q": "Gln", "E": "Glu", "K": "Lys", "F": "Phe", "W": "Trp", "Y": "Tyr",
}  # fmt: skip


def genotype(text: str) -> str | None:
    """``Aa Bb`` and ``AaBb``: the loci, and the parents of ``Aa x aa``, in any order."""
    parents = [_GENOTYPE.fullmatch(part) for part in _CROSS.split(text)] if len(text) <= MAX_LENGTH else []
    loci = [" ".join(_loci(match["loci"])) for match in parents if match]
    return " x ".join(sorted(loci)) if 0 < len(loci) == len(parents) < 3 and all(loci) else None


def differ_in_alleles(one: str, other: str) -> bool:
    """Whether genotypes in two texts differ in the case of their letters only: ``AaBb`` and ``AABb``, aa and AA."""
    if one == other:
        return False
    if one.casefold() == other.casefold() and _is_genotype(one):
        return True
    first, second = _alleles(one), _alleles(other)
    return first != second and sorted(map(str.casefold, first)) == sorted(map(str.casefold, second))


def _alleles(text: str) -> list[str]:
    """The loci of the genotypes in a text; of a pair of equal letters only where the text speaks of genotypes."""
    words = [match[0] for match in _WORD.finditer(text)]
    are_sure = "genotype" in text.lower()
    return [locus for word in words if are_sure or _has_case(word) for locus in _loci(word)]


def _is_genotype(text: str) -> bool:
    """Whether all of a text is one genotype, which is no Roman numeral."""
    return _WORD.fullmatch(text) is not None and bool(_loci(text)) and not set(text.lower()) <= set("vx")


def _has_case(word: str) -> bool:
    """Whether a word is a genotype of several loci, or of one with two different alleles."""
    return len(word) > 2 or not (word.islower() or word.isupper())


def _loci(text: str) -> list[str]:
    """The loci in a text, if none comes twice; in one order if the case of a locus tells them from other codes."""
    loci = [match[0] for match in _LOCUS.finditer(text)]
    if len({locus.lower() for locus in loci}) < len(loci) or "ii" in map(str.lower, loci):
        return []
    return sorted(loci) if any(not (locus.islower() or locus.isupper()) for locus in loci) else loci


def bases(text: str) -> str | None:
    """``ATGCCA`` of ``ATG CCA`` and ``ATG-CCA``: bases without ends."""
    match = _strand(text)
    return _joined(match["bases"]) if match and not match["first"] else None


def strand(text: str) -> str | None:
    """``ATGCCA`` of ``3'-ACCGTA-5'``: bases between two ends, read from the 5' end."""
    match = _strand(text)
    if match is None or not match["first"]:
        return None
    return _joined(match["bases"])[:: -1 if match["first"] == "3" else 1]


def _strand(text: str) -> re.Match[str] | None:
    match = _STRAND.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if (
        match is None
        or bool(match["first"]) != bool(match["last"])
        or (match["first"] and match["first"] == match["last"])
    ):
        return None
    return None if "T" in match["bases"] and "U" in match["bases"] else match


def _joined(text: str) -> str:
    return text.replace(" ", "").replace("-", "")


def peptide(text: str) -> str | None:
    """``Met-Ala-Gly``, ``Methionine-Alanine-Glycine`` and ``M-A-G``: amino acids in order; ``Met`` and methionine."""
    if _GLOSSED_ACID.fullmatch(text):  # Lys (K)
        acid, *others = (peptide(part) or _ONE_LETTER.get(part) for part in re.split(r" \(|, |/|; ", text[:-1]))
        return acid if set(others) == {acid} else None
    match = _PEPTIDE.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    names = [name for name in re.split(r" ?[-,·] ?| ", _ACID.sub("_", match["acids"])) if name]
    if len(names) > 1 and all(name in _ONE_LETTER for name in names):
        return "-".join(_ONE_LETTER[name] for name in names) if "-" in text else None
    codes = [_AMINO_ACIDS.get(name.lower()) or (name if name in _THREE_LETTERS else None) for name in names]
    return "-".join(code for code in codes if code) if names and all(codes) else None
