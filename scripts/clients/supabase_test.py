"""supabase-py without the service: over PostgREST or its stand-in, under row-level security."""
import os

import httpx
import pytest
from postgrest.exceptions import APIError
from supabase import ClientOptions, create_client

STAND_IN = bool(os.environ.get("STAND_IN"))


def signed_in(token):
    client = create_client(os.environ["REST_ADDRESS"], os.environ["ANON_KEY"])
    client.postgrest.auth(token)
    return client


@pytest.fixture
def member():
    return signed_in(os.environ["MEMBER_TOKEN"])


def embedded(text):
    model = os.environ["EMBEDDING_MODEL"]
    response = httpx.post(os.environ["OPENAI_BASE_URL"] + "/embeddings", json={"model": model, "input": [text]}, timeout=60)
    vector = response.raise_for_status().json()["data"][0]["embedding"]
    return {"query_embedding": vector + [0] * (1536 - len(vector)), "embedding_model": model}


def test_hybrid_search_by_meaning_and_words(member):
    query = "the customer paid twice for one order"
    rows = member.rpc("search_hybrid", {"query_text": query, "match_count": 10, **embedded(query)}).execute().data
    assert {row["project_id"] for row in rows} == {int(os.environ["MEMBER_PROJECT"])}
    assert "TX-402" in [row["ticket_key"] for row in rows[:3]]  # Order paid two times!!
    assert any("vector" in row["matched_by"] and row["similarity"] > 0.5 for row in rows)
    scores = [row["fused_score"] for row in rows]
    assert len(scores) > 3 and scores == sorted(scores, reverse=True)


def test_filters_and_pages(member):
    arguments = {"query_text": "payment", "filters": {"open": False, "not": {"statuses": ["Won't Do"]}}}
    rows = member.rpc("search_hybrid", arguments).execute().data
    assert len(rows) > 1 and {row["status"] for row in rows} == {"Done"}
    second = member.rpc("search_hybrid", arguments | {"match_count": 1, "match_offset": 1}).execute().data
    assert [row["ticket_key"] for row in second] == [rows[1]["ticket_key"]]
    with pytest.raises(APIError, match="statuses") as refused:
        member.rpc("search_hybrid", {"query_text": "payment", "filters": {"statuses": {"a": 1}}}).execute()
    assert refused.value.code == "22023"


def test_a_read_with_get(member):
    rows = member.rpc("list_projects", {"match_count": 5}, get=True).execute().data
    assert [row["key"] for row in rows] == ["TX"]


def test_who_may_see_what():
    assert signed_in(os.environ["STRANGER_TOKEN"]).rpc("search_hybrid", {"query_text": "TX-400"}).execute().data == []
    for token, code in ((os.environ["ANON_KEY"], "42501"), ("e30.e30.e30", "PGRST301")):
        with pytest.raises(APIError) as refused:
            signed_in(token).rpc("search_hybrid", {"query_text": "TX-400"}).execute()
        assert refused.value.code == code


def test_an_unknown_argument(member):
    with pytest.raises(APIError) as refused:
        member.rpc("search_hybrid", {"text": "x"}).execute()
    assert refused.value.code == "PGRST202"


def test_tables_or_a_hint(member):
    query = member.table("tickets").select("key, name").eq("key", "TX-400")
    if STAND_IN:
        with pytest.raises(APIError) as refused:
            query.execute()
        assert refused.value.code == "NO_TABLES" and "No migration is missing" in refused.value.hint
        return
    assert [row["key"] for row in query.execute().data] == ["TX-400"]
    assert signed_in(os.environ["STRANGER_TOKEN"]).table("tickets").select("key").execute().data == []
