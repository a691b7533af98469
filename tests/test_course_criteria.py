"""Criteria over queries: what each of them accepts, and what it says it saw.

The table is small enough to count on paper: 40 loans of 4 customers, 10 a customer, half of them open.
"""

from __future__ import annotations

import pytest

from spanlab import splits
from spanlab.course.challenge import Criterion
from spanlab.course.criteria import Design, HandedQuery, back_joins, distributed, kept, parameters, scan_uses
from spanlab.errors import SchemaError
from spanlab.query import Database
from spanlab.schema import Schema
from spanlab.splits import simulate

LOANS = (
    "CREATE TABLE Loans (LoanId STRING(9) NOT NULL, Customer STRING(9), State STRING(9), Amount INT64) "
    "PRIMARY KEY (LoanId)"
)
BY_CUSTOMER = "CREATE INDEX ByCustomer ON Loans (Customer)"
COVERING = "CREATE INDEX Covering ON Loans (Customer) STORING (Amount)"
ONE = "SELECT Amount FROM Loans WHERE Customer = @c"
FORCED = "SELECT Amount FROM Loans@{FORCE_INDEX=%s} WHERE Customer = @c"


def loans(schema: Schema) -> Database:
    database = Database(schema)
    rows = [[f"L{n:02}", f"c{n % 4}", "open" if n % 8 < 4 else "closed", n] for n in range(40)]
    database.load("Loans", ["LoanId", "Customer", "State", "Amount"], rows)
    return database


def design(text: str, given: str = LOANS) -> Design:
    return Design(text, "Loans", writes_per_second=10, values={}, nodes=1, rows=loans, params={"c": "c1"}, given=given)


def handed(sql: str, customer: str = "c1") -> HandedQuery:
    return HandedQuery(sql, loans(Schema.from_ddl(f"{LOANS}; {BY_CUSTOMER}; {COVERING}")), {"c": customer})


def seen(criterion: Criterion, asked: object) -> tuple[float, str]:
    outcome = criterion.measure(asked)
    return outcome.share, outcome.seen


def test_an_answer_comes_after_the_ddl_that_is_given() -> None:
    assert list(design(BY_CUSTOMER).schema.indexes) == ["ByCustomer"]
    assert list(design(LOANS, given="").schema.tables) == ["Loans"]
    with pytest.raises(SchemaError, match="no column Custommer") as refused:
        design("CREATE INDEX ByCustomer ON Loans (Custommer)")
    assert (refused.value.line, refused.value.column) == (1, 35)  # within the answer, not within given and answer


@pytest.mark.parametrize(
    ("text", "share", "said"),
    [
        (COVERING, 1.0, "it fetches 0 rows"),
        (BY_CUSTOMER, 0.0, "it fetches 10 rows"),
        ("CREATE INDEX ByState ON Loans (State)", 0.0, "it reads no index"),  # the table is read: nothing is saved
    ],
)
def test_back_joins_counts_base_rows_of_an_index(text: str, share: float, said: str) -> None:
    assert seen(back_joins(30, ONE), design(text)) == (share, said)


def test_back_joins_up_to_a_limit_and_never_for_a_query_without_rows() -> None:
    assert seen(back_joins(30, ONE, at_most=10), design(BY_CUSTOMER))[0] == 1
    assert seen(back_joins(30, ONE, at_most=9), design(BY_CUSTOMER))[0] == 0
    assert seen(back_joins(30), handed(FORCED % "Covering", customer="nobody"))[0] == 0


def test_distributed_counts_hops_after_one_another() -> None:
    two = "SELECT a.Amount FROM Loans AS a JOIN Loans AS b ON a.Customer = b.LoanId OR a.Amount = b.Amount"
    assert seen(distributed(40, 1), handed(FORCED % "Covering")) == (1.0, "its plan has 1 distributed level")
    share, said = seen(distributed(40, 1), handed(two))
    assert share == 0
    assert said == "its plan has 2 distributed levels"
    assert seen(distributed(40, 1), handed(FORCED % "Covering", customer="nobody"))[0] == 0


@pytest.mark.parametrize(("index", "share"), [("Covering", 1.0), ("ByCustomer", 0.0), ("_BASE_TABLE", 0.0)])
def test_scan_uses_says_what_is_read(index: str, share: float) -> None:
    got, said = seen(scan_uses(50, "covering"), handed(FORCED % index))
    assert got == share
    assert ("Covering" in said) == bool(share)


@pytest.mark.parametrize(
    ("sql", "share", "said"),
    [
        (ONE, 1.0, "it is there"),
        ("SELECT Amount FROM Loans WHERE Customer = @C", 1.0, "it is there"),  # names of parameters have no case
        ("SELECT Amount FROM Loans WHERE Customer = 'c1'", 0.0, "the text 'c1' stands in the query"),
        ("SELECT Amount FROM Loans WHERE Customer = @c AND State = 'open'", 0.0, "the text 'open' stands in the query"),
        ("SELECT Amount FROM Loans@{FORCE_INDEX='Covering'} WHERE Customer = @c", 1.0, "it is there"),
        ("SELECT Amount FROM Loans WHERE Amount = 1", 0.0, "not in it: @c"),
    ],
)
def test_parameters_wants_each_and_no_text(sql: str, share: float, said: str) -> None:
    criterion = parameters(20, ["c"], "no text stands in the query")
    assert criterion.wanted == "@c is a parameter; no text stands in the query"
    assert seen(criterion, handed(sql)) == (share, said)


def test_parameters_names_all_that_are_missing() -> None:
    assert seen(parameters(20, ["from_id", "to_id"], "no id"), handed(ONE)) == (0.0, "not in it: @from_id, @to_id")


def test_the_same_design_in_other_words_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated, filled = [], []

    def counting(schema: Schema, *arguments: object, **named: object) -> object:
        simulated.append(schema)
        return simulate(schema, *arguments, **named)  # type: ignore[arg-type]

    @kept
    def fill(schema: Schema) -> Database:
        filled.append(schema)
        return loans(schema)

    monkeypatch.setattr(splits, "simulate", counting)
    other_words = LOANS.replace("CREATE TABLE", "create  table").replace(", Amount INT64", ",\n  Amount INT64 -- own\n")
    for text in (LOANS, other_words, LOANS.replace("Amount INT64", "Amount NUMERIC")):
        seen_as = Design(text, "Loans", writes_per_second=11, values={"LoanId": "uuid4"}, nodes=1, rows=fill)
        assert seen_as.summary["offered"] == pytest.approx(11, rel=0.2)
        seen_as.summary.clear()  # nobody else's summary
        assert len(seen_as.ask("SELECT LoanId FROM Loans").rows) == 40
    assert len(simulated) == len(filled) == 2
