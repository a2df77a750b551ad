"""The store on a real database: starts, races, faults, and what it says when the database cannot be used."""

import asyncio
from datetime import timedelta
from urllib.parse import quote

import pytest
from psycopg import AsyncConnection, sql

from shared.adapters.clock import SystemClock
from shared.adapters.postgres import PostgresStore, database, drop_schema
from shared.adapters.postgres.statements import composed, schema_steps, statements
from shared.errors import Fenced, Misconfigured, Unavailable
from shared.ports import Accepted, Ending, Resumed
from shared.run import RunStatus
from tests.support.databases import opened, rows_read, run, started
from tests.support.real import own_name, real_urls, services_to_break
from tests.support.runs import a_delta, a_done, a_message, a_run

AN_HOUR = timedelta(hours=1)
NOTHING = timedelta(0)


# The start


def test_ten_processes_start_at_once() -> None:
    """One of them makes the schema, all of them find it; a start later changes nothing."""

    async def test() -> None:
        url, schema = real_urls().database, own_name()
        try:
            opening = [PostgresStore.open(url, schema=schema, clock=SystemClock()) for _ in range(10)]
            stores = await asyncio.gather(*opening)
            await stores[0].open_run(a_run("r"), a_message("m"))
            stores.append(await PostgresStore.open(url, schema=schema, clock=SystemClock()))
            for store in stores:
                assert await store.find_message("s", "m") is not None
                await store.close()
        finally:
            await drop_schema(url, schema)

    run(test())


def test_a_schema_is_upgraded_where_it_stands() -> None:
    """A later version runs only its own step and keeps the rows; the version before it then refuses the schema."""

    async def test() -> None:
        url = real_urls().database
        async with opened(url) as first:
            await first.store.open_run(a_run("r"), a_message("m"))
            step = composed("ALTER TABLE {schema}.runs ADD note text NOT NULL DEFAULT 'new'", first.schema)
            steps = [*schema_steps(first.schema), step]
            opening = [PostgresStore.open(url, schema=first.schema, clock=SystemClock(), steps=steps) for _ in range(3)]
            for store in await asyncio.gather(*opening):
                assert await store.find_message("s", "m") is not None
                await store.close()
            assert await first.ask("SELECT note FROM {schema}.runs") == [("new",)]
            with pytest.raises(Misconfigured) as caught:
                await PostgresStore.open(url, schema=first.schema, clock=SystemClock())
            address = f"{first.other.info.host}:{first.other.info.port}"
            assert str(caught.value) == (
                f"store: the schema {first.schema} at {address} is version 5, this code knows 4; "
                "bring the code up to date, or set KODA_SCHEMA to another name"
            )

    run(test())


def test_a_process_of_the_version_before_shares_its_runs() -> None:
    """Version 3 gives back to version 4, and takes over from it; what it gives back counts, and only sweeps find it."""

    async def test() -> None:
        url = real_urls().database
        async with opened(url, versions=3) as old:
            await started(old.store)
            store = await PostgresStore.open(url, schema=old.schema, clock=SystemClock())
            assert await old.store.release("r", 1, NOTHING, Resumed.TAKEOVER, counts=False)
            assert await store.take_up("w", AN_HOUR, "s") is None
            second = await store.take_over("w", AN_HOUR)
            assert await store.release("r", 2, NOTHING, Resumed.TAKEOVER, counts=False)
            third = await old.store.take_over("w", NOTHING)
            fourth = await store.take_over("w", AN_HOUR)
            claims = [claim and (claim.run.attempt, claim.tries) for claim in (second, third, fourth)]
            assert claims == [(2, 2), (3, 3), (4, 3)]
            await store.close()

    run(test())


def test_a_failed_upgrade_leaves_the_schema_as_it_was() -> None:
    """Steps and version change together or not at all."""

    async def test() -> None:
        url = real_urls().database
        async with opened(url) as first:
            steps = [
                *schema_steps(first.schema),
                composed("CREATE TABLE {schema}.extra (); SELECT 1 / 0", first.schema),
            ]
            with pytest.raises(Unavailable, match="division by zero"):
                await PostgresStore.open(url, schema=first.schema, clock=SystemClock(), steps=steps)
            assert await first.ask("SELECT version, to_regclass('{schema}.extra') FROM {schema}.schema_version") == [
                (4, None)
            ]

    run(test())


@pytest.mark.parametrize("schema", ["Select", "user", "_x9"])
def test_a_schema_may_be_named_like_a_keyword(schema: str) -> None:
    """Names are quoted wherever they stand."""

    async def test() -> None:
        url = services_to_break().database_url
        store = await PostgresStore.open(url, schema=schema, clock=SystemClock())
        await store.open_run(a_run("r"), a_message("m"))
        await store.close()
        again = await PostgresStore.open(url, schema=schema, clock=SystemClock())
        assert await again.find_message("s", "m") is not None
        await again.close()
        await drop_schema(url, schema)

    run(test())


@pytest.mark.parametrize("schema", ["", "a b", 'a"; DROP TABLE x; --', "ä", "9x", "x" * 64])
def test_a_schema_without_a_plain_name_is_refused(schema: str) -> None:
    """What could be more than a name reaches no statement."""
    with pytest.raises(Misconfigured, match="is no name for a schema"):
        run(refused(schema))


async def refused(schema: str) -> None:
    """Open a store under a name that is none."""
    await PostgresStore.open("postgresql://127.0.0.1:1/x", schema=schema, clock=SystemClock())


@pytest.mark.parametrize("default", [r"repeatable\ read", "serializable"])
def test_a_statement_that_waits_goes_on_with_what_is_then(default: str) -> None:
    """Whatever isolation a database has for its default: a message that waits for a row of its run joins the run."""

    async def test() -> None:
        url, options = real_urls().database, quote(f"-c default_transaction_isolation={default}")
        async with opened(f"{url}{'&' if '?' in url else '?'}options={options}") as here:
            await started(here.store)
            async with here.other.transaction():
                await here.ask("UPDATE {schema}.runs SET updated_at = now()")
                joining = asyncio.create_task(here.store.join_run("r", a_message("m2")))
                await here.somebody_waits()
            joined = await joining
            assert joined is not None and joined.merged

    run(test())


# Addresses and rights


async def refusal(url: str, schema: str = "never") -> str:
    """Return what is said about a database that cannot be used; after 3 s at the most, on a calm machine."""
    with pytest.raises(Unavailable) as caught:
        async with asyncio.timeout(15):  # the pool's own patience would be 30
            await PostgresStore.open(url, schema=schema, clock=SystemClock())
    return f"{type(caught.value).__name__}: {caught.value}"


def test_what_cannot_be_used_is_told_in_one_line() -> None:
    """Each line names the address and what to do, and no password."""

    async def test() -> None:
        services = services_to_break()
        address = services.postgres.address
        mend = "mend DATABASE_URL: postgresql://user:password@host:port/database"
        assert await refusal(f"postgresql://koda:wrong-secret@{address}/postgres") == (
            f'Misconfigured: store: {address} refuses us: password authentication failed for user "koda"; {mend}'
        )
        assert await refusal(services.database_url.replace("/postgres", "/nowhere")) == (
            f'Misconfigured: store: {address} refuses us: database "nowhere" does not exist; {mend}'
        )
        assert await refusal("postgresql://koda:top secret@127.0.0.1/x") == (
            "Misconfigured: store: DATABASE_URL is not an address; write postgresql://user:password@host:port/database"
        )
        assert await refusal("postgresql://koda:half/secret@127.0.0.1/x") == (
            "Misconfigured: store: DATABASE_URL is not an address; write postgresql://user:password@host:port/database"
        )
        lost = await refusal("postgresql://koda:secret@127.0.0.1:1/x")
        assert lost.startswith("Unavailable: the store is away: 127.0.0.1:1: connection failed: ")
        assert "secret" not in lost and "\n" not in lost
        assert "no-such-host.invalid:5432" in await refusal("postgresql://koda:secret@no-such-host.invalid/x")

    run(test())


def test_a_database_that_cannot_hold_every_text_is_refused() -> None:
    """Only UTF-8 holds what users write."""

    async def test() -> None:
        services = services_to_break()
        async with await AsyncConnection.connect(services.database_url, autocommit=True) as connection:
            await connection.execute("CREATE DATABASE narrow ENCODING 'SQL_ASCII' TEMPLATE template0")
            assert "has the encoding SQL_ASCII" in await refusal(services.database_url.replace("/postgres", "/narrow"))
            await connection.execute("DROP DATABASE narrow")

    run(test())


def test_missing_rights_are_told() -> None:
    """Who may not make the schema is told so; who may use one that is there needs no right to make any."""

    async def test() -> None:
        services = services_to_break()
        name = own_name()
        url = f"postgresql://{name}:secret@{services.postgres.address}/postgres"
        async with opened(services.database_url) as first:
            await first.other.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'secret'").format(sql.Identifier(name)))
            address = services.postgres.address
            assert await refusal(url) == (
                f"Misconfigured: store: {address}: the user {name} may not make the schema never: "
                "permission denied for database postgres; "
                "grant CREATE on the database, or set KODA_SCHEMA to a schema that this user owns"
            )
            assert "permission denied for schema" in await refusal(url, first.schema)
            await first.ask(f"GRANT USAGE ON SCHEMA {{schema}} TO {name}")
            await first.ask(f"GRANT ALL ON ALL TABLES IN SCHEMA {{schema}} TO {name}")
            store = await PostgresStore.open(url, schema=first.schema, clock=SystemClock())
            await store.open_run(a_run("r"), a_message("m"))
            await store.close()
            await first.ask(f"DROP OWNED BY {name}")
            await first.ask(f"DROP ROLE {name}")

    run(test())


# Races


def test_ordinals_are_dense_however_many_open_runs_at_once() -> None:
    """O4: twenty runs of one session, opened at once over several connections, are numbered 0 to 19."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            opening = [here.store.open_run(a_run(f"r{n}"), a_message(f"m{n}")) for n in range(20)]
            assert [answer.replayed for answer in await asyncio.gather(*opening)] == [False] * 20
            assert [stored.ordinal for stored in await here.store.runs_of("s")] == list(range(20))

    run(test())


def test_one_message_sent_twice_at_once_is_accepted_once() -> None:
    """W7: one run, one input, and everybody gets the winner's answer."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            message = a_message("m")
            opening = [here.store.open_run(a_run(f"r{number}"), message) for number in range(10)]
            answers = await asyncio.gather(*opening)
            (winner,) = [answer for answer in answers if not answer.replayed]
            replay = Accepted(message, winner.run_id, False, RunStatus.PENDING, replayed=True)
            assert sorted(answers, key=lambda answer: answer.replayed) == [winner, *[replay] * 9]
            assert [stored.run.id for stored in await here.store.runs_of("s")] == [winner.run_id]
            assert len(await here.store.messages_of(winner.run_id)) == 1

    run(test())


def test_claims_at_once_never_take_one_run_twice() -> None:
    """Each run goes to one owner, each session has one active run, and none is left out."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            for number in range(20):
                session_id = f"s{number % 10}"
                await here.store.open_run(a_run(f"r{number:02}", session_id), a_message(f"m{number}", session_id))
            claims = await asyncio.gather(*(here.store.claim(f"w{number}", AN_HOUR) for number in range(16)))
            taken = [claim.run.id for claim in claims if claim is not None]
            while (claim := await here.store.claim("w", AN_HOUR)) is not None:
                taken.append(claim.run.id)
            assert sorted(taken) == [f"r{number:02}" for number in range(10)]

    run(test())


@pytest.mark.parametrize("last", ["append", "finish"])
def test_a_zombie_that_writes_during_a_take_over_writes_nothing(last: str) -> None:
    """O5, W2: a write that waits for a take-over to be committed finds that it is no longer the owner's."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store, lease=NOTHING)
            async with here.other.transaction():
                take_over = statements(here.schema)["take_over"]
                await here.other.execute(take_over, {"owner": "w2", "lease": AN_HOUR, "now": SystemClock().now()})
                if last == "append":
                    late: asyncio.Task[Ending | None] = asyncio.create_task(
                        here.store.append("r", 1, [a_delta("r", 0)])
                    )
                else:
                    late = asyncio.create_task(
                        here.store.finish("r", 1, RunStatus.RUNNING, RunStatus.DONE, [a_done("r", 0)], None, "end")
                    )
                await here.somebody_waits()
            if last == "append":
                with pytest.raises(Fenced):
                    await late
            else:
                assert await late is Ending.LOST
            assert await here.store.events("r", 0, 10) == []
            stored = await here.store.run("r")
            assert stored is not None and (stored.run.status, stored.run.attempt) == (RunStatus.RUNNING, 2)

    run(test())


def test_an_ending_that_waits_for_a_joining_message_sees_it() -> None:
    """W6: a message that was accepted before the end is counted by it, although the end was asked for before."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            async with here.other.transaction():
                await here.ask("UPDATE {schema}.runs SET inputs = inputs + 1")
                ending = asyncio.create_task(
                    here.store.finish("r", 1, RunStatus.RUNNING, RunStatus.DONE, [a_done("r", 0)], 1, "end")
                )
                await here.somebody_waits()
            assert await ending is Ending.UNREAD
            assert await here.store.events("r", 0, 10) == []

    run(test())


def test_a_message_that_waits_for_an_ending_does_not_join() -> None:
    """W6: a message that comes while the end is written is told that the run has ended."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            async with here.other.transaction():
                await here.ask("UPDATE {schema}.runs SET status = 'done'")
                joining = asyncio.create_task(here.store.join_run("r", a_message("late")))
                await here.somebody_waits()
            assert await joining is None
            assert len(await here.store.messages_of("r")) == 1

    run(test())


def test_no_message_is_lost_between_joins_and_an_ending() -> None:
    """W6: of messages and an ending that come at once, either all that joined are read, or the run goes on."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            for number in range(30):
                run_id, session_id = f"r{number}", f"s{number}"
                await started(here.store, run_id, session_id)
                last = [a_done(run_id, 0)]
                ending, *joined = await asyncio.gather(
                    here.store.finish(run_id, 1, RunStatus.RUNNING, RunStatus.DONE, last, 1, "end"),
                    *(here.store.join_run(run_id, a_message(f"j{n}", session_id)) for n in range(4)),
                )
                accepted = sum(answer is not None for answer in joined)
                stored = await here.store.run(run_id)
                assert stored is not None and stored.inputs == 1 + accepted
                assert (ending is Ending.ENDED) == (accepted == 0) == (stored.run.status is RunStatus.DONE)

    run(test())


# Connections


def test_a_full_pool_refuses_in_time_and_loses_no_connection() -> None:
    """L4: waiting for a connection is bounded; whoever waits, is refused or cancelled takes none along.

    Leases are renewed all the same. In less than the real time a busy machine would not have made all its connections.
    """

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            async with here.other.transaction():
                await here.ask("UPDATE {schema}.runs SET user_id = user_id")
                stuck = [
                    asyncio.create_task(here.store.append("r", 1, [a_delta("r", seq)]))
                    for seq in range(database.CONNECTIONS - 1)
                ]
                with pytest.raises(Unavailable, match=r"^the store is away: no connection to .* within 2 s$"):
                    while True:
                        await here.store.ping()
                assert list(await here.store.renew("nobody", timedelta(seconds=15))) == []
                waiting = [asyncio.create_task(here.store.ping()) for _ in range(20)]
                await asyncio.sleep(0)
                for task in [*waiting, *stuck[::2]]:
                    task.cancel()
                await asyncio.gather(*waiting, *stuck[::2], return_exceptions=True)
            await asyncio.gather(*stuck[1::2])
            for _ in range(3):
                await asyncio.gather(*(here.store.run("r") for _ in range(database.CONNECTIONS)))
            assert [event.seq for event in await here.store.events("r", 0, 10)] == [1, 3, 5]

    run(test())


def test_a_store_outlives_a_restart() -> None:
    """Calls raise while the server is away and work again once it is back, without a new store."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.database_url) as here:
            await asyncio.gather(*(here.store.open_run(a_run(f"r{n}"), a_message(f"m{n}")) for n in range(8)))
            await asyncio.to_thread(services.postgres.stop)
            with pytest.raises(Unavailable):
                await here.store.run("r0")
            await asyncio.to_thread(services.postgres.start)
            assert len(await here.store.runs_of("s")) == 8
            await asyncio.to_thread(services.postgres.restart)
            assert len(await here.store.runs_of("s")) == 8

    run(test())


def test_the_first_call_after_a_restart_is_answered() -> None:
    """All connections of the pool are dead then; each is passed over at once, without a pause between them."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.database_url) as here:
            await asyncio.gather(*(here.store.open_run(a_run(f"r{n}"), a_message(f"m{n}")) for n in range(50)))
            for _ in range(3):
                await asyncio.to_thread(services.postgres.restart)
                assert len(await here.store.runs_of("s")) == 50

    run(test())


def test_a_database_that_keeps_silent_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes statements and answers nothing is away, and its connections are given up."""

    async def test() -> None:
        services = services_to_break()
        async with opened(services.database_url) as here:
            services.postgres.pause()
            try:
                monkeypatch.setattr(database, "ANSWER_S", 0.3)  # not while it answers: a busy machine takes longer
                monkeypatch.setattr(database, "CONNECT_S", 1)
                with pytest.raises(Unavailable):
                    await here.store.ping()
                with pytest.raises(Unavailable, match="did not answer within 1 s"):
                    await PostgresStore.open(services.database_url, schema=here.schema, clock=SystemClock())
            finally:
                services.postgres.resume()
                monkeypatch.undo()
            await here.store.ping()

    run(test())


def test_a_closed_store_refuses_calls() -> None:
    """After `close`, which may come twice, every call is refused."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await here.store.close()
            await here.store.close()
            with pytest.raises(Unavailable, match="closed"):
                await here.store.ping()

    run(test())


def test_a_schema_that_was_dropped_is_told() -> None:
    """Whoever drops the schema under a running process is told what has happened to it."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await drop_schema(real_urls().database, here.schema)
            with pytest.raises(Misconfigured, match="our schema is gone"):
                await here.store.run("r")

    run(test())


# Cost


def test_looking_for_work_reads_no_ended_run() -> None:
    """Beside 100,000 runs that have ended, claims, take-overs and sweeps go through the small indexes alone."""
    ended = """
        INSERT INTO {schema}.runs
               (id, session_id, user_id, status, attempt, created_at, updated_at, ordinal, inputs, archived_text)
        SELECT 'r' || n, 's' || n %% 1000, 'u', 'done', 1, now(), now(), n / 1000, 1, ''
          FROM generate_series(0, %(count)s - 1) AS n"""
    values = {
        "owner": "w",
        "lease": AN_HOUR,
        "now": SystemClock().now(),
        "session_id": "s1",
        "limit": 10,
        "ended_before": SystemClock().now(),
    }

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await here.ask(ended, count=100_000)
            for number in range(20):
                await here.store.open_run(a_run(f"p{number}", f"s{number}"), a_message(f"m{number}", f"s{number}"))
                if number % 2:
                    await here.store.claim("w", AN_HOUR, f"s{number}")
            await here.ask("ANALYZE {schema}.runs")
            for name in (
                *("claim", "claim_of_session", "take_over", "take_up"),
                *("renew", "waiting_sessions", "archivable"),
            ):
                assert await rows_read(here, name, values) < 200, name

    run(test())


def test_statements_are_prepared_and_bounded() -> None:
    """Every connection of the pool prepares what it runs and lets the server end what takes too long."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            async with here.store.database.connection() as connection:
                await connection.execute(statements(here.schema)["run"], {"run_id": "r"})
                prepared = await (await connection.execute("SELECT statement FROM pg_prepared_statements")).fetchall()
                limit = await (await connection.execute("SHOW statement_timeout")).fetchone()
            assert any(f'"{here.schema}".stored_runs' in row[0] for row in prepared)
            assert limit == ("5s",)

    run(test())


def test_what_was_logged_is_read_back_byte_for_byte() -> None:
    """Texts are kept as they are given: spaces, the order of keys, numbers, and characters outside the plane."""

    async def test() -> None:
        async with opened(real_urls().database) as here:
            await started(here.store)
            event = a_delta("r", 0)
            odd = '{"b": 1.0,"a":  "\\u2028 \U0001f600 ẞ",  "b":1e2}'
            events = [type(event)("r", 0, event.kind, odd), type(event)("r", 1, event.kind, '{"text":""}')]
            await here.store.append("r", 1, events)
            assert await here.store.events("r", 0, 10) == events

    run(test())
