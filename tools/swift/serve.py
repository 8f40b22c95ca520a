"""One OpenStack Swift in one process, with an S3 interface that checks every signature.

Usage: serve.py FOLDER ACCESS_KEY SECRET REGION. Keeps all it has under FOLDER, listens on ports of the system's
choice, prints the address of the S3 interface as its first line, and ends when its standard input does.
"""
import eventlet

eventlet.monkey_patch()

import os
import sys

import eventlet.wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.storage_policy import reload_storage_policies
from swift.common.wsgi import loadapp

PROXY = """
[pipeline:main]
pipeline = catch_errors s3api tempauth bulk slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = {region}
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret} .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""

STORAGE = """
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""

DEFAULTS = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
log_level = WARNING
"""


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def serve(socket, conf):
    app = loadapp(conf, global_conf={"log_name": os.path.basename(conf)})
    eventlet.spawn(eventlet.wsgi.server, socket, app, log_output=False, debug=False)


def main(folder, access_key, secret, region):
    account, user = access_key.split(":")
    os.makedirs(os.path.join(folder, "devices", "disk"))
    write(os.path.join(folder, "swift.conf"), "[swift-hash]\nswift_hash_path_suffix = conformance\n")
    utils.set_swift_dir(folder)
    utils.validate_hash_conf()
    reload_storage_policies()

    for kind in ("account", "container", "object"):
        socket = eventlet.listen(("127.0.0.1", 0))
        port = socket.getsockname()[1]
        ring = RingBuilder(part_power=4, replicas=1, min_part_hours=0)
        ring.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "disk", "weight": 1,
                      "replication_ip": "127.0.0.1", "replication_port": port, "meta": ""})
        ring.rebalance()
        ring.get_ring().save(os.path.join(folder, f"{kind}.ring.gz"))
        text = (DEFAULTS + STORAGE).format(folder=folder, kind=kind)
        serve(socket, write(os.path.join(folder, f"{kind}-server.conf"), text))

    socket = eventlet.listen(("127.0.0.1", 0))
    text = (DEFAULTS + PROXY).format(folder=folder, region=region, account=account, user=user, secret=secret)
    serve(socket, write(os.path.join(folder, "proxy-server.conf"), text))
    print(f"http://127.0.0.1:{socket.getsockname()[1]}", flush=True)
    eventlet.tpool.execute(sys.stdin.read)


main(*sys.argv[1:])
