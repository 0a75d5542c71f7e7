"""What Schemathesis checks with scripts/check-document beside its own checks."""
from pathlib import Path

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance, response_schema_conformance

# The rules that no schema can express, by how their messages begin or end.
IN_WORDS = Path(__file__).parents[2].joinpath("server/api/testdata/in_words.txt").read_text().splitlines()


@schemathesis.hook("map_body").apply_to(operation_id="generateEmbeddings")
def of_the_callers_project(ctx, body):
    if isinstance(body, dict) and type(body.get("project_id")) is int and body["project_id"] > 0:
        return body | {"project_id": 6}
    return body


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    if case.path == "/mcp":  # its messages follow the protocol, and have no schema here
        return None
    if response.status_code == 400:
        messages = [error["message"] for error in response.json().get("errors", [])]
        if any(message.startswith(rule) or message.endswith(rule) for message in messages for rule in IN_WORDS):
            return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.check
def bodies_are_documented(ctx, response, case):
    # Of a stream the document describes what it ends with; tests of server/api read its events.
    if "text/event-stream" in response.headers.get("content-type", []):
        return None
    return response_schema_conformance(ctx, response, case)
