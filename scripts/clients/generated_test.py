"""A client that openapi-python-client generates from the document that the service serves."""
import importlib
import json
import os
import subprocess
import sys

import pytest

# What the generator knows no reader for is read as a text.
CONFIG = '{"content_type_overrides": {"application/yaml": "text/html"}, "post_hooks": []}'


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    (folder / "config.json").write_text(CONFIG)
    command = ["openapi-python-client", "generate", "--url", os.environ["SERVICE_URL"] + "/openapi.yaml", "--config", folder / "config.json"]
    made = subprocess.run([*command, "--meta", "none", "--output-path", folder / "tasklens", "--fail-on-warning"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    return lambda name: importlib.import_module("tasklens." + name if name else "tasklens")


@pytest.fixture
def client(generated):
    return generated("").AuthenticatedClient(base_url=os.environ["SERVICE_URL"], token=os.environ["MEMBER_TOKEN"], raise_on_unexpected_status=True)


def test_search_with_filters(generated, client):
    models = generated("models")
    filters = models.Filters(labels=models.LabelsFilter(any_=["payments"]), not_=models.FiltersNot(statuses="To Do"))
    found = generated("api.search.hybrid_search").sync(client=client, body=models.SearchRequest(query="charged twice", filters=filters, facets=True))
    assert found.results[0].ticket_key == "TX-400" and isinstance(found.results[0], models.TicketResult)
    assert {result.project_name for result in found.results} == {"Checkout and Payments"}
    assert all("payments" in result.labels for result in found.results)
    assert "To Do" not in {facet.label for facet in found.facets["status"]}
    dated = models.Filters(created=models.RangeFilter(from_="2025-03-01", to="2025-03-31"))
    listed = generated("api.search.hybrid_search").sync(client=client, body=models.SearchRequest(query="", filters=dated))
    assert listed.results and {result.created_at.strftime("%Y-%m") for result in listed.results} == {"2025-03"}


def test_read_a_ticket(generated, client):
    ticket = generated("api.search.get_ticket").sync("tx-400", client=client)
    assert ticket.ticket_key == "TX-400" and ticket.comments and ticket.created_at.year > 2000
    missing = generated("api.search.get_ticket").sync("MOB-152", client=client)
    assert missing.code == generated("models").ProblemCode.NOT_FOUND


def test_ask(generated, client):
    models = generated("models")
    body = models.QueryRequest(question="Why did the checkout go down on campaign Friday?", top_k=2)
    answer = generated("api.search.query").sync(client=client, body=body)
    assert "ran empty" in answer.answer and not answer.low_similarity
    assert [source.ticket_key for source in answer.sources if source.cited] == ["TX-461"]
    refused = generated("api.search.query").sync(client=client, body=models.QueryRequest(question=" "))
    assert isinstance(refused, models.Problem) and refused.errors[0].field == "question"


def test_ask_as_a_stream(generated, client):
    """The generator makes no reader of streams, but models of the events' data."""
    models = generated("models")
    body = models.QueryRequest(question="Why did the checkout go down on campaign Friday?", top_k=2, stream=True)
    kinds = {"sources": models.SourcesEvent, "delta": models.DeltaEvent, "done": models.QueryResponse}
    events = []
    with client.get_httpx_client().stream(**generated("api.search.query")._get_kwargs(body=body)) as response:
        assert response.headers["content-type"] == "text/event-stream"
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = kinds[value]
            elif name == "data":
                events.append(kind.from_dict(json.loads(value)))
    assert isinstance(events[0], models.SourcesEvent) and isinstance(events[-1], models.QueryResponse)
    assert "".join(event.text for event in events[1:-1]) == events[-1].answer and "ran empty" in events[-1].answer
