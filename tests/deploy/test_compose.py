"""compose.yaml is valid for docker-compose, and ports that must be closed are closed."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Option

from kit.deployment import DEPLOY
from kit.programs import program
from kit.server_process import running_server
from kit.stores import free_port
from saratoga_server.__main__ import main
from saratoga_server.embedded_store.process import find_binary

FILLED_IN = {"SARATOGA_PUBLIC_URL": "wss://patience.example.org", "SARATOGA_TLS": "/etc/tls"}


def read_compose(environment: dict[str, str]) -> Any:
    """Return the whole configuration; raise `CalledProcessError` if it is invalid."""
    ended = subprocess.run(
        [program("docker-compose"), "--file", str(DEPLOY / "compose.yaml"), "config"],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"} | environment,
    )
    return yaml.safe_load(ended.stdout)


ROOT = DEPLOY.parent


@pytest.fixture(scope="module")
def compose() -> Any:
    return read_compose(FILLED_IN)


@pytest.fixture(scope="module")
def services(compose: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose["services"]
    return found


def settings_of_the_server() -> set[str]:
    """Return every environment variable that the server reads."""
    return {str(each.envvar) for each in main.params if isinstance(each, Option) and each.envvar}


@pytest.mark.needs("docker-compose")
@pytest.mark.parametrize("name", FILLED_IN)
def test_required_settings_are_asked_for(name: str) -> None:
    given = {key: value for key, value in FILLED_IN.items() if key != name}
    with pytest.raises(subprocess.CalledProcessError) as refused:
        read_compose(given)
    assert "Missing mandatory value" in refused.value.stderr


@pytest.mark.needs("docker-compose")
def test_no_service_can_do_more_than_it_must(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert {"mem_limit", "cpus", "pids_limit", "restart"} <= service.keys(), name
        assert "privileged" not in service, name
        assert re.fullmatch(r"[a-z./-]+:v?[0-9][0-9.]*(-alpine)?", service["image"]), name


@pytest.mark.needs("docker-compose")
def test_only_the_proxy_is_reached_from_outside(
    compose: Any, services: dict[str, dict[str, Any]]
) -> None:
    published = {name: each["ports"] for name, each in services.items() if "ports" in each}
    assert published.keys() == {"proxy", "grafana"}
    assert all(port.startswith("127.0.0.1:") for port in published["grafana"])
    closed = {name for name, each in compose["networks"].items() if each and each.get("internal")}
    assert closed == {"players", "store", "metrics"}
    networks = {name: set(each["networks"]) for name, each in services.items()}
    assert networks["valkey"] == {"store"}
    assert networks["prometheus"] == {"metrics"}
    assert networks["node-1"] == networks["node-2"] == closed
    assert networks["proxy"].isdisjoint({"store", "metrics"})


@pytest.mark.needs("docker-compose")
def test_a_node_has_time_to_drain_and_existing_settings_only(
    services: dict[str, dict[str, Any]],
) -> None:
    for name in ("node-1", "node-2"):
        assert services[name]["stop_grace_period"] == "30s"
        given = {key for key in services[name]["environment"] if key.startswith("SARATOGA_")}
        assert given - settings_of_the_server() == set()
        assert services[name]["environment"]["SARATOGA_NODE"] == name


@pytest.mark.needs("docker-compose")
def test_mounted_files_exist_and_find_the_nodes(
    services: dict[str, dict[str, Any]],
) -> None:
    mounted = [
        Path(volume.partition(":")[0])
        for each in services.values()
        for volume in each.get("volumes", [])
        if volume.startswith(str(DEPLOY))
    ]
    assert len(mounted) > 8
    assert [path for path in mounted if not path.is_file()] == []
    nodes = {name for name in services if name.startswith("node-")}
    upstream = (DEPLOY / "nginx" / "nodes-compose.conf").read_text()
    assert set(re.findall(r"server ([\w-]+):7470 ", upstream)) == nodes
    targets = yaml.safe_load((DEPLOY / "prometheus" / "targets-compose.yml").read_text())
    assert {target.partition(":")[0] for target in targets[0]["targets"]} == nodes


@pytest.mark.needs("docker-compose")
def test_secrets_are_made_for_each_machine_and_kept_out_of_git(
    compose: Any, tmp_path: Path
) -> None:
    shutil.copy(DEPLOY / "make-secrets.sh", tmp_path)
    for _ in range(2):
        subprocess.run([tmp_path / "make-secrets.sh"], check=True, capture_output=True)
    wanted = {Path(each["file"]) for each in compose["secrets"].values()}
    made = {path.name: path.read_text().strip() for path in (tmp_path / "secrets").iterdir()}
    assert made.keys() == {path.name for path in wanted}
    assert re.fullmatch(r"[0-9a-f]{48}", made["store_password"])
    assert made["store_url"] == f"redis://:{made['store_password']}@valkey:6379"
    assert made["store_settings"] == f"requirepass {made['store_password']}"
    ignored = subprocess.run(
        ["git", "check-ignore", "deploy/secrets/store_url", "deploy/.env"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(ignored.stdout.split()) == 2


@pytest.mark.needs("docker-compose")
async def test_the_store_accepts_only_clients_with_the_secret_address(
    services: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """Run the container's command with its secrets, and a server on that store."""
    shutil.copy(DEPLOY / "make-secrets.sh", tmp_path)
    makes = await asyncio.create_subprocess_exec(tmp_path / "make-secrets.sh")
    assert await makes.wait() == 0
    secrets, port = tmp_path / "secrets", free_port()
    (tmp_path / "data").mkdir()
    there = {
        "valkey-server": str(find_binary()),
        "/etc/valkey/valkey.conf": str(DEPLOY / "valkey" / "valkey-safe.conf"),
        "/run/secrets/store_settings": str(secrets / "store_settings"),
        "/data": str(tmp_path / "data"),
        "0.0.0.0": "127.0.0.1",
    }
    command = services["valkey"]["command"]
    assert set(there) <= set(command)
    address = tmp_path / "store_url"
    address.write_text(
        (secrets / "store_url").read_text().replace("valkey:6379", f"localhost:{port}")
    )
    store = await asyncio.create_subprocess_exec(
        *(there.get(word, word) for word in command),
        *("--port", str(port), "--logfile", str(tmp_path / "log")),
    )
    try:
        async with running_server("--redis-file", str(address)) as server_process:
            assert (await server_process.get("/readyz"))[0] == 200
            assert (
                address.read_text().split(":")[2].split("@")[0]
                not in server_process.log.read_text()
            )
    finally:
        store.terminate()
        assert await store.wait() == 0


@pytest.mark.needs("docker-compose")
def test_the_store_has_memory_for_a_copy_of_its_data(services: dict[str, dict[str, Any]]) -> None:
    """A rewrite of its file forks the store; pages that change meanwhile exist twice in memory."""
    command = services["valkey"]["command"]
    (most,) = re.findall(r"--maxmemory (\d+)gb$", " ".join(command))
    limit = services["valkey"]["mem_limit"]
    assert re.fullmatch(r"\d+g", limit), limit
    assert 2 * int(most) <= int(limit[:-1])


def test_the_examples_use_existing_settings_only() -> None:
    known = settings_of_the_server()
    for example in (DEPLOY / "systemd").glob("*.env.example"):
        named = set(re.findall(r"^(SARATOGA_\w+)=", example.read_text(), re.MULTILINE))
        assert named, example
        assert named - known == set(), example
    asked = set(re.findall(r"\$\{(SARATOGA_\w+)", (DEPLOY / "compose.yaml").read_text()))
    example_text = (DEPLOY / "compose.env.example").read_text()
    assert set(re.findall(r"^(SARATOGA_\w+)=", example_text, re.MULTILINE)) == asked


@pytest.mark.needs("shellcheck")
def test_shellcheck_accepts_the_scripts() -> None:
    scripts = [*DEPLOY.rglob("*.sh"), ROOT / ".ci" / "run"]
    assert len(scripts) > 1
    said = subprocess.run(
        [program("shellcheck"), *map(str, scripts)], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout


def test_both_recipes_count_only_races_at_public_tables() -> None:
    assert "\n    SARATOGA_RANKED: public\n" in (DEPLOY / "compose.yaml").read_text()
    assert "\nSARATOGA_RANKED=public\n" in (DEPLOY / "systemd" / "server.env.example").read_text()
