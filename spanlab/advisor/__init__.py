"""What will hurt in a schema, and what to write instead. See `advise`."""

from spanlab.advisor.advise import advise, advise_text
from spanlab.advisor.findings import SEVERITIES, Finding, Findings
from spanlab.advisor.rules import RULES

__all__ = ["RULES", "SEVERITIES", "Finding", "Findings", "advise", "advise_text"]
