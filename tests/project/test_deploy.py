"""The folder deploy against the API of Kubernetes and against what `mcpyard up` takes.

No cluster of Kubernetes and no container is run.
"""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from typer.main import get_group

import mcpyard
from mcpyard.cli.cluster_settings import ADDRESS_VARIABLE, KEY_VARIABLE
from mcpyard.cli.main import app
from mcpyard.domain import limits
from mcpyard.mesh.certificates import NodeCertificates, NodeFiles, make_authority, make_certificate
from tests.cli.commands import Json, echo
from tests.cluster.nodes import TOKEN, cluster_of, place_on
from tests.postgres import KEY
from tests.project.test_dockerfile import instructions

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
VERSIONS = ("1.29", "1.37")
"""The oldest version of Kubernetes that this is for, and the newest one known."""

NODES = [f"mcpyard-{number}" for number in range(10)]
POD = {"POD_NAME": "mcpyard-3", "NAMESPACE": "tools"}


def documents(path: Path) -> list[Json]:
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


KUSTOMIZATION: Json = documents(KUBERNETES / "kustomization.yaml")[0]
RESOURCES: list[Json] = [
    each for name in KUSTOMIZATION["resources"] for each in documents(KUBERNETES / name)
]
SECRETS: Json = {each["name"]: each for each in KUSTOMIZATION["secretGenerator"]}
COMPOSE: Json = documents(DEPLOY / "compose.yaml")[0]


def resource(kind: str, name: str = "mcpyard") -> Json:
    (only,) = [
        each for each in RESOURCES if (each["kind"], each["metadata"]["name"]) == (kind, name)
    ]
    return only


def pod() -> Json:
    return resource("StatefulSet")["spec"]["template"]["spec"]


def container() -> Json:
    (only,) = pod()["containers"]
    return only


def filled(text: str) -> str:
    """A text of the pod's definition as Kubernetes fills it in."""
    return re.sub(r"\$\((\w+)\)", lambda match: POD[match[1]], text)


def up_options(arguments: list[str]) -> dict[str, Any]:
    """What `mcpyard up` understands of the arguments."""
    command, *rest = arguments
    assert command == "up"
    return get_group(app).commands["up"].make_context("up", rest).params


def up_help() -> str:
    command = get_group(app).commands["up"]
    return command.get_help(command.make_context("up", []))


def with_mcpyard(folder: Path, **more: str) -> dict[str, str]:
    """An environment in which shells find this mcpyard."""
    command = folder / "bin" / "mcpyard"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mcpyard "$@"\n')
    command.chmod(0o755)
    return os.environ | {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", **more}


def secret(name: str, files: dict[str, bytes]) -> Json:
    data = {key: base64.b64encode(content).decode() for key, content in files.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}


def variables() -> list[str]:
    """The names in the template of the environment."""
    lines = (KUBERNETES / "cluster.env.example").read_text().splitlines()
    return [each.partition("=")[0] for each in lines if each and not each.startswith("#")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("each", RESOURCES, ids=lambda each: each["metadata"]["name"])
def test_the_api_of_kubernetes_takes_every_resource(each: Json, version: str) -> None:
    kubernetes_validate.validate(each, version, strict=True)


def test_a_mistake_in_a_resource_is_found() -> None:
    wrong = resource("PodDisruptionBudget") | {"spec": {"maxUnavailible": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_the_secret_has_the_certificates_of_ten_nodes_and_each_pod_finds_its_own(
    tmp_path: Path,
) -> None:
    make_authority(tmp_path / "ca")
    for name in NODES:
        make_certificate(tmp_path / "ca", name, tmp_path / "certs")
    listed = SECRETS["mcpyard-certificates"]["files"]
    files = {Path(each).name: (tmp_path / each).read_bytes() for each in listed}
    assert len(files) == len(listed) == 2 * len(NODES) + 1
    kubernetes_validate.validate(secret("mcpyard-certificates", files), VERSIONS[-1], strict=True)
    (volume,) = [each for each in pod()["volumes"] if each["name"] == "certificates"]
    assert volume["secret"]["secretName"] == "mcpyard-certificates"
    (mount,) = [each for each in container()["volumeMounts"] if each["name"] == "certificates"]
    up = up_options([*map(filled, container()["args"])])
    assert (up["node"], str(up["node_certs"])) == (POD["POD_NAME"], mount["mountPath"])
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    for name, content in files.items():
        (mounted / name).write_bytes(content)
    assert NodeCertificates(up["node"], NodeFiles.of(mounted, up["node"]))


def test_the_secrets_of_the_cluster_are_variables_and_not_in_the_repository() -> None:
    assert variables() == [ADDRESS_VARIABLE, KEY_VARIABLE, "MCPYARD_TOKEN"]
    (source,) = container()["envFrom"]
    assert source["secretRef"]["name"] == SECRETS["mcpyard-cluster"]["name"]
    ignored = (DEPLOY.parent / ".gitignore").read_text().splitlines()
    written = [*SECRETS["mcpyard-cluster"]["envs"], "certs/"]
    assert {f"deploy/kubernetes/{each}" for each in written} <= {*ignored}
    assert "deploy/.env" in ignored


def test_a_pod_is_the_node_of_its_name_where_the_services_send_requests() -> None:
    spec, up = resource("StatefulSet")["spec"], up_options([*map(filled, container()["args"])])
    nodes = resource("Service", "mcpyard-nodes")["spec"]
    assert nodes["clusterIP"] == "None"
    assert spec["serviceName"] == "mcpyard-nodes"
    ports = {each["name"]: each["containerPort"] for each in container()["ports"]}
    assert ports == {"http": up["port"], "nodes": int(up["node_listen"].rpartition(":")[2])}
    assert up["node_address"] == f"mcpyard-3.mcpyard-nodes:{nodes['ports'][0]['port']}"
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    assert resource("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    for name in ("mcpyard", "mcpyard-nodes"):
        service = resource("Service", name)["spec"]
        assert service["selector"] == labels
        assert {each["targetPort"] for each in service["ports"]} <= ports.keys()
    assert {"mcpyard", "mcpyard.tools.svc"} <= {*up["allow_host"]}
    assert container()["readinessProbe"]["httpGet"]["path"] == "/readyz"
    (home,) = [each for each in container()["volumeMounts"] if each["name"] == "home"]
    assert f"MCPYARD_HOME={home['mountPath']}" in instructions("ENV")[-1].split()
    assert str(pod()["securityContext"]["runAsUser"]) in instructions("RUN")[0]
    assert KUSTOMIZATION["images"][0]["newTag"] == mcpyard.__version__
    # Otherwise the Service of the same name sets MCPYARD_PORT and the like.
    assert pod()["enableServiceLinks"] is False


def test_the_image_that_the_nodes_run_has_the_driver_of_the_database() -> None:
    assert "psycopg==" in (DEPLOY.parent / "requirements-image.txt").read_text()
    assert "requirements-image.txt /tmp/requirements.txt" in instructions("COPY")


@pytest.mark.real
@pytest.mark.timeout(120)
def test_a_pod_that_ends_gives_its_servers_away_first(tmp_path: Path, cluster_dsn: str) -> None:
    command = container()["lifecycle"]["preStop"]["exec"]["command"]
    with cluster_of(tmp_path, cluster_dsn, "n1", "n2") as cluster:
        n1, n2 = cluster.nodes["n1"], cluster.nodes["n2"]
        n1.register("echo", echo())
        place_on(cluster, "n1", "echo")
        more = {"POD_NAME": "n1", "MCPYARD_HOME": str(tmp_path / "n1"), "MCPYARD_TOKEN": TOKEN}
        subprocess.run(command, check=True, timeout=60, env=with_mcpyard(tmp_path, **more))
        assert n2.record("echo")["node"] == "n2"
        assert n2.text_of("echo", "here") == "here"


LONGEST_STOP = limits.HAND_OVER + limits.LAST_REQUESTS + limits.SHUTDOWN
"""What a node may take from SIGTERM on: it must not be killed before."""


def test_a_node_has_the_time_to_hand_its_servers_over_before_it_is_killed() -> None:
    grace = pod()["terminationGracePeriodSeconds"]
    assert grace >= LONGEST_STOP
    for name, service in node_services().items():
        number, unit = service["stop_grace_period"][:-1], service["stop_grace_period"][-1]
        assert unit == "s", name
        assert int(number) >= LONGEST_STOP, name


CLOCK = """#!/bin/sh
now=$(cat '{clock}')
case "$(basename "$0") $*" in
  date*) echo "$now" ;;
  sleep*) echo $((now + $1)) > '{clock}' ;;
  "mcpyard cluster drain"*) echo $((now + 2)) > '{clock}' ;;
  "mcpyard cluster status"*) echo $((now + 3)) > '{clock}'; echo "draining n1 (this one) 1/200" ;;
esac
"""
"""A machine so busy that a command takes seconds, by a clock of its own."""


def test_a_pod_whose_servers_cannot_go_elsewhere_has_the_time_to_end_by_itself(
    tmp_path: Path,
) -> None:
    command = container()["lifecycle"]["preStop"]["exec"]["command"]
    clock = tmp_path / "clock"
    clock.write_text("0")
    for name in ("date", "sleep", "mcpyard"):
        program = tmp_path / name
        program.write_text(CLOCK.format(clock=clock))
        program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "POD_NAME": "n1"}
    subprocess.run(command, check=False, timeout=60, env=environment)
    assert 60 <= int(clock.read_text()) <= pod()["terminationGracePeriodSeconds"] - limits.SHUTDOWN


def node_services() -> dict[str, Json]:
    return {name: each for name, each in COMPOSE["services"].items() if "ports" in each}


def test_compose_runs_three_nodes_by_options_that_up_has() -> None:
    assert node_services().keys() == {"n1", "n2", "n3"}
    text = up_help()
    published: set[str] = set()
    for name, service in node_services().items():
        for each in service["command"][1:]:
            assert each.partition("=")[0] in text, each
        up = up_options(service["command"])
        assert (up["node"], up["node_address"]) == (name, f"{name}:8722")
        (port,) = service["ports"]
        assert port.endswith(f":{up['port']}")
        assert port.startswith("127.0.0.1:")
        published.add(port)
        targets = {each.split(":")[1]: each.split(":")[0] for each in service["volumes"]}
        assert targets == {"/data": name, str(up["node_certs"]): "certificates"}
    assert len(published) == len(node_services())


def test_compose_sets_variables_that_mcpyard_reads_and_contains_no_secret() -> None:
    configuration = (DEPLOY.parent / "docs" / "configuration.md").read_text()
    for service in node_services().values():
        assert service["environment"].keys() == {ADDRESS_VARIABLE, KEY_VARIABLE}
        assert all(f"`{name}`" in configuration for name in service["environment"])
        assert service["environment"][KEY_VARIABLE].startswith("${MCPYARD_KEY:?")
    assert COMPOSE["services"]["db"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PA")
    declared = COMPOSE["volumes"].keys()
    used = {
        each.partition(":")[0]
        for service in COMPOSE["services"].values()
        for each in service["volumes"]
    }
    assert used == declared


@pytest.mark.real
def test_the_setup_of_compose_makes_what_the_nodes_need_and_can_run_again(
    tmp_path: Path, dsn: str
) -> None:
    setup = COMPOSE["services"]["setup"]
    script = setup["command"][0].replace("/certs", str(tmp_path / "certs")).replace("$$", "$")
    more = {ADDRESS_VARIABLE: dsn, KEY_VARIABLE: KEY}
    environment = with_mcpyard(tmp_path, MCPYARD_HOME=str(tmp_path / "data"), **more)
    for _ in range(2):
        subprocess.run([*setup["entrypoint"], script], check=True, timeout=60, env=environment)
    for name in node_services():
        assert NodeCertificates(name, NodeFiles.of(tmp_path / "certs", name))
